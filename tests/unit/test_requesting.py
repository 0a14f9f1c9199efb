"""Requests as bytes: what HTTP needs, and nothing that a URL, a header or a key could add to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx import __version__
from fluxx.adapters.http.requesting import request
from fluxx.adapters.http.target import Target
from fluxx.errors import EgressRefused, SecretMissing
from fluxx.ports.extractor import Call
from fluxx.ports.secrets import ApiKey


def sent(url: str = "http://a.example/x", *, at_home: bool = True, **changes: object) -> bytes:
    call = Call(**{"method": "GET", "url": url, "timeout": 1.0, "max_bytes": 1, **changes})
    return request(call, Target.parse(url), at_home=at_home)


def test_a_call_is_sent_in_these_very_bytes() -> None:
    headers = {"Content-Type": "application/json"}
    assert sent("https://A.example:443/x?y=1#z", method="POST", api_key=ApiKey("k"), headers=headers, body=b"{}") == (
        b"POST /x?y=1 HTTP/1.1\r\nHost: a.example\r\n"
        b"User-Agent: fluxx/" + __version__.encode() + b"\r\nAccept-Encoding: gzip, deflate\r\n"
        b"Content-Type: application/json\r\nAuthorization: Bearer k\r\nContent-Length: 2\r\n\r\n{}"
    )


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.example:80/", b"a.example"),
        ("http://a.example:8080/", b"a.example:8080"),
        ("https://a.example:80/", b"a.example:80"),
        ("http://a.example./", b"a.example."),
        ("http://[2001:DB8::1]/", b"[2001:db8::1]"),
        ("http://[2001:db8::1]:81/", b"[2001:db8::1]:81"),
        ("http://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/", b"xn--e1afmkfd.xn--p1ai"),
    ],
)
def test_the_host_is_told_as_servers_know_it(url: str, host: bytes) -> None:
    assert b"\r\nHost: " + host + b"\r\n" in sent(url)


def test_a_length_is_told_where_a_body_is_meant() -> None:
    assert b"Content-Length" not in sent()
    assert b"\r\nContent-Length: 0\r\n" in sent(method="POST")
    assert b"\r\nContent-Length: 0\r\n" in sent(method="POST", body=b"")


def test_strangers_get_neither_the_key_nor_the_headers_of_a_call() -> None:
    headers = {"X-Api-Key": "canary", "Accept": "text/plain"}
    away = sent(at_home=False, api_key=ApiKey("canary"), headers=headers)
    assert b"canary" not in away
    assert b"\r\nAccept: text/plain\r\n" in away


@pytest.mark.parametrize(
    "header",
    [
        ("X", "canary\r\nX-Evil: 1"),
        ("X", "canary\n"),
        ("X", "canary\r"),
        ("X", "canary\x00"),
        ("X", "canary\u010a"),  # a line feed, were it cut to one byte
        ("X\r\nX-Evil", "canary"),
        ("X: canary", "1"),
        ("X ", "canary"),
        ("", "canary"),
        ("Host", "canary"),
        ("content-length", "7"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "canary"),
        ("Authorization", "canary"),
    ],
)
def test_headers_that_would_change_the_request_are_refused(header: tuple[str, str]) -> None:
    with pytest.raises(EgressRefused) as refusal:
        sent(headers=dict([header]))
    assert "canary" not in str(refusal.value)


@pytest.mark.parametrize("key", ["a\r\nX: 1", "a\n", "a\x00", "\u00fc"])
def test_keys_that_no_header_can_carry_are_refused(key: str) -> None:
    with pytest.raises(SecretMissing):
        sent(api_key=ApiKey(key))


@given(st.text(max_size=30), st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3), st.text(max_size=8))
def test_nothing_adds_a_line(path: str, headers: dict[str, str], key: str) -> None:
    try:
        raw = sent(f"http://a.example/{path}", headers=headers, api_key=ApiKey(key))
    except (EgressRefused, SecretMissing):
        return
    lines = raw.split(b"\r\n")
    assert lines[0].count(b" ") == 2
    assert len(lines) == 4 + len(headers) + 1 + 2
    assert lines[-2:] == [b"", b""]
    assert not any(b"\r" in line or b"\n" in line or b"\x00" in line for line in lines)
