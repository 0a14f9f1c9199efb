"""Which URLs and addresses the egress guard lets through: a table, and properties that no input may break."""

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

import pytest
from aiohttp.helpers import is_ip_address
from hypothesis import example, given
from hypothesis import strategies as st
from yarl import URL

from fluxx.adapters.http.egress import EgressGuard
from fluxx.adapters.http.target import Target
from fluxx.errors import EgressRefused
from support.egress_list import PASSED, REFUSED

PUBLIC_ONLY = EgressGuard(())
PRIVATE = (ip_network("10.1.0.0/16"), ip_network("127.0.0.0/8"), ip_network("fd00:1::/32"))
PRIVATE_TOO = EgressGuard(PRIVATE)


@pytest.mark.parametrize("url", REFUSED)
def test_what_can_never_be_called_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(EgressRefused) as refusal:
        PUBLIC_ONLY.check_url(url)
    assert "\n" not in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("url", PASSED)
def test_public_addresses_and_names_pass(url: str) -> None:
    PUBLIC_ONLY.check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://10.1.2.3/",
        "http://127.0.0.1:9000/",
        "http://localhost:9000/",
        "http://extractor.localhost/",
        "http://[fd00:1::5]/",
        "http://[::ffff:10.1.2.3]/",
        "http://[64:ff9b::10.1.2.3]/",
        "https://example.com/",
    ],
)
def test_listed_networks_are_open_in_every_form(url: str) -> None:
    PRIVATE_TOO.check_url(url)


@pytest.mark.parametrize(
    "url", ["http://10.2.0.1/", "http://[::1]/", "http://[fd00:2::1]/", "http://[::ffff:10.2.0.1]/"]
)
def test_nothing_beside_the_listed_networks_is_open(url: str) -> None:
    with pytest.raises(EgressRefused, match="EGRESS_ALLOWED_NETWORKS"):
        PRIVATE_TOO.check_url(url)


def test_the_refusal_names_the_address_and_the_setting() -> None:
    with pytest.raises(EgressRefused) as refusal:
        PUBLIC_ONLY.check_url("http://10.0.0.5:8080/extract?sig=abc")
    assert str(refusal.value) == (
        "http://10.0.0.5:8080 may not be called: 10.0.0.5 is a private address "
        "that EGRESS_ALLOWED_NETWORKS doesn't list."
    )


def test_a_target_shows_neither_query_nor_fragment() -> None:
    target = Target.parse("https://Example.com:443/a/b?sig=c#d")
    assert (str(target), repr(target)) == ("https://example.com/a/b", "https://example.com/a/b")


def test_path_and_query_are_called_exactly_as_written() -> None:
    target = Target.parse("https://example.com/a%2Fb/../c;d?sig=a%2Fb%3D+e&x={y}")
    assert target.path + target.query == "/a%2Fb/../c;d?sig=a%2Fb%3D+e&x={y}"


@pytest.mark.parametrize(
    ("location", "leads_to"),
    [
        ("/x?y=1", "https://example.com/x?y=1"),
        ("c", "https://example.com/a/c"),
        ("?z", "https://example.com/a/b?z"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example:81", "http://other.example:81/"),
    ],
)
def test_a_redirect_leads_where_browsers_would_go(location: str, leads_to: str) -> None:
    assert Target.parse("https://example.com/a/b?sig=1").redirected(location) == Target.parse(leads_to)


_SCHEMES = st.sampled_from(["http://", "https://", "HTTP://", "http:/", "//", ""])
_HOSTS = st.one_of(
    st.ip_addresses().map(lambda address: f"[{address}]" if address.version == 6 else str(address)),
    st.integers(0, 2**33).map(str),
    st.integers(0, 2**33).map(hex),
    st.lists(st.integers(0, 300).flatmap(lambda n: st.sampled_from([str(n), hex(n), oct(n)])), max_size=5).map(
        ".".join
    ),
    st.text(st.sampled_from("abz019.-_xX%[]:@\\#?/ \u3002\uff11\u24d0\u00ad\u00df"), max_size=20),
)
_URLS = st.builds(
    "{}{}{}{}".format, _SCHEMES, _HOSTS, st.sampled_from(["", ":80", ":0", ":99999", ":"]), st.text(max_size=8)
)


@given(st.one_of(_URLS, st.text()))
@example("http://[::ffff:127.0.0.1]/")
@example("http://0/")
def test_any_text_is_refused_or_understood_in_one_way(url: str) -> None:
    try:
        target = Target.parse(url)
    except EgressRefused:
        return
    again = f"{target.origin}{target.path}{target.query}"
    assert Target.parse(again) == target
    origin, seen = target.origin, URL(again, encoded=True)
    assert (seen.scheme, seen.port, seen.raw_host) == (origin.scheme, origin.port, origin.host)
    assert (seen.raw_path_qs, origin.host) == (target.path + target.query, urlsplit(again).hostname)
    assert again.isascii()
    assert again.isprintable()
    # The event loop takes such hosts for addresses and asks no resolver; the guard must do so too.
    assert not is_ip_address(origin.host) or origin.literal is not None
    if origin.literal is None:
        with pytest.raises(OSError, match="illegal IP address"):
            socket.inet_aton(origin.host)


@given(st.lists(_URLS, min_size=1, max_size=4))
def test_what_is_remembered_of_an_origin_changes_no_verdict(urls: list[str]) -> None:
    guard = EgressGuard(PRIVATE)
    for url in urls * 2:
        assert verdict(guard.admit, url) == verdict(EgressGuard(PRIVATE).admit, url)


def verdict(admit: Callable[[str], Target], url: str) -> Target | str:
    try:
        return admit(url)
    except EgressRefused as refusal:
        return str(refusal)


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_only_public_unicast_addresses_are_permitted(address: IPv4Address | IPv6Address) -> None:
    inner = getattr(address, "ipv4_mapped", None) or address
    if PUBLIC_ONLY.permits(address) and inner not in ip_network("64:ff9b::/96"):
        assert inner.is_global
        assert not inner.is_multicast


@given(st.ip_addresses(v=4))
def test_every_dress_of_an_ipv4_address_is_judged_like_the_address(address: IPv4Address) -> None:
    plain = PUBLIC_ONLY.permits(address)
    assert PUBLIC_ONLY.permits(ip_address(f"::ffff:{address}")) == plain
    assert PUBLIC_ONLY.permits(ip_address(f"64:ff9b::{address}")) == plain
    assert not PUBLIC_ONLY.permits(ip_address(f"::{address}"))
    assert not PUBLIC_ONLY.permits(IPv6Address(0x2002 << 112 | int(address) << 80))
