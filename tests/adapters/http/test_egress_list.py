"""The egress list over the wire: no extractor leads us to what is on it, no spelling to a loopback server."""

import socket
from itertools import product

import pytest

from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.errors import EgressRefused
from support.calls import a_client, fetch, get, post
from support.egress_list import LOOPBACK_AS_WRITTEN, NEVER
from support.scripted import Reply, ScriptedExtractor

AS_HEADERS = [url for url in NEVER if url.isascii() and url.isprintable()]
"""The others can't be sent: a server that tries breaks its own answer."""

OWN_NAMES = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "0",
    "0.0.0.0",
    "localhost",
    "LOCALHOST",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:0.0.0.0",
]
"""Hosts that the system's resolver takes for this machine."""


@pytest.mark.parametrize("url", NEVER + LOOPBACK_AS_WRITTEN)
async def test_what_is_on_the_list_is_not_called(url: str) -> None:
    async with a_client(allowed_networks=()) as client:
        for call in (post(url), get(url)):
            with pytest.raises(EgressRefused):
                await client.exchange(call)


@pytest.mark.parametrize("location", AS_HEADERS)
async def test_no_extractor_redirects_us_to_what_is_on_the_list(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str, location: str
) -> None:
    extractor.on_path("/x", Reply(302, headers={"Location": location}))
    with pytest.raises(EgressRefused):
        await fetch(how, client, get(f"{extractor.url}/x"))
    assert len(extractor.requests) == 1


async def test_no_spelling_of_its_address_leads_to_a_server_on_loopback(extractor: ScriptedExtractor) -> None:
    port = int(extractor.url.rpartition(":")[2])
    async with a_client(allowed_networks=()) as client:
        for host, call in product(OWN_NAMES, (get, post)):
            with socket.create_connection((host, port), timeout=5):
                pass  # without a guard it would be reached
            written = f"[{host}]" if ":" in host else host
            with pytest.raises(EgressRefused):
                await client.exchange(call(f"http://{written}:{port}/x"))
    assert extractor.requests == []
