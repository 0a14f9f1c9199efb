"""The egress list: URLs that may never be called, and some that may; ``unit`` judges, ``adapters/http`` tries them.

The addresses are those of the IANA's special-purpose registries (RFC 6890) and the clouds' metadata services.
"""

RELATIVE = [
    "example.com/extract",
    "//example.com/extract",
    "/extract",
    "",
    "http://",
    "http:///path",
    "http:example.com",
]
"""No URLs by themselves; as a redirect they stay at the origin, or lead to another host."""

LOOPBACK_AS_WRITTEN = [
    "http://localhost/",
    "http://LOCALHOST:8080/",
    "http://localhost./",
    "http://extractor.localhost/",
    "http://127.0.0.1/",
    "http://127.255.255.254/",
    "http://[::ffff:127.0.0.1]/",
]
"""Loopback in forms that everybody reads alike: open where ``EGRESS_ALLOWED_NETWORKS`` lists it, else refused."""

NEVER = [
    # not http
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "javascript:alert(1)",
    # no host, or none that can be
    "http://:80/",
    "http://./",
    "http://../",
    "http://a..b/",
    "http://example.com../",
    "http://-a.example/",
    "http://a-.example/",
    "http://exa%6Dple.com/",
    "http://exa mple.com/",
    "http://exam\nple.com/",
    "http://example.com\\@10.0.0.1/",
    "http://example.com\t.evil.example/",
    "http://ex\u200bample.com/",
    "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 130 + "example/",
    "http://example.com/" + "a" * 9000,
    # no port that can be
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:http/",
    "http://example.com:\u0661/",
    "http://example.com:80:80/",
    # credentials
    "http://user@example.com/",
    "http://user:secret@example.com/",
    "http://@example.com/",
    "http://8.8.8.8@10.0.0.1/",
    # this machine
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    # addresses written to be misread
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1./",
    "http://127.0.0.01/",
    "http://256.0.0.1/",
    "http://1.2.3.4.5/",
    "http://example.0x/",
    "http://\uff11\uff12\uff17.0.0.1/",  # fullwidth digits
    "http://127\u30020\u30020\u30021/",  # ideographic full stops
    "http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/",  # circled letters
    # private and special
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://100.100.100.200/",  # a cloud's metadata service
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/machine?comp=goalstate",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://192.88.99.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[2606:4700::1%1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[100::1]/",
    "http://[5f00::1]/",
    # IPv4 inside IPv6
    "http://[::ffff:a00:1]/",
    "http://[::ffff:0:10.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::808:808]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:808:808::]/",
    "http://[2001:0:53aa:64c:0:fbff:80ff:fffe]/",
    # brackets that hold no address
    "http://[127.0.0.1]/",
    "http://[::1/",
    "http://::1/",
    "http://[::1]x/",
    "http://[v1.x]/",
]
"""Refused even where 127.0.0.0/8 is listed."""

REFUSED = [*RELATIVE, *LOOPBACK_AS_WRITTEN, *NEVER]

PASSED = [
    "http://example.com",
    "https://example.com/",
    "HTTPS://EXAMPLE.COM:8443/extract?api-version=1#part",
    "https://example.com./extract",
    "https://my_service.internal.example/extract",
    "https://extractor/",
    "https://localhost.example.com/",
    "https://xn--e1afmkfd.xn--p1ai/",
    "https://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/\u043f\u0443\u0442\u044c?q=\u00e9",
    "https://0x.example/",
    "https://1.example/",
    "https://8.8.8.8/",
    "https://9.255.255.255/",
    "https://11.0.0.0/",
    "https://100.63.255.255/",
    "https://100.128.0.0/",
    "https://172.15.255.255/",
    "https://172.32.0.0/",
    "https://223.255.255.255/",
    "https://[2606:4700:4700::1111]/",
    "https://[2A00:1450:4001::1]:8443/",
    "https://[::ffff:8.8.8.8]/",
    "https://[64:ff9b::8.8.8.8]/",
    "https://example.com/a%2Fb/../c?sig=a%2Fb%3D+d&x=y%20z",
]
