"""The HTTP extractor client's guard: addresses, names, TLS, and its silence about secrets."""

import ssl
import traceback
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_network

import pytest
import trustme

from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.errors import EgressRefused, FluxxError, NoAnswer
from fluxx.ports.secrets import ApiKey
from support.calls import LOOPBACK, a_client, fetch, get, names, post
from support.raw_server import RawServer
from support.scripted import Reply, ScriptedExtractor

KEY = ApiKey("canary-key")


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/", "ftp://a/", "http://0/"]
)
async def test_literal_addresses_are_checked(client: HttpExtractorClient, url: str, how: str) -> None:
    with pytest.raises(EgressRefused):
        await fetch(how, client, get(url))


async def test_loopback_is_refused_unless_listed(extractor: ScriptedExtractor) -> None:
    async with a_client(allowed_networks=()) as client:
        for url in (extractor.extraction_url, extractor.extraction_url.replace("127.0.0.1", "localhost")):
            with pytest.raises(EgressRefused, match="EGRESS_ALLOWED_NETWORKS"):
                await client.exchange(post(url))
    assert extractor.requests == []


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%1", "0.0.0.0"])
async def test_a_name_is_refused_for_what_it_leads_to(address: str) -> None:
    async with a_client(lookup=names({"extractor.test": [address]})) as client:
        with pytest.raises(EgressRefused, match=r"extractor\.test:8080 may not be called"):
            await client.exchange(get("http://extractor.test:8080/"))


async def test_of_several_addresses_only_those_that_may_be_are_called(extractor: ScriptedExtractor) -> None:
    lookup = names({"extractor.test": ["169.254.169.254", "::1", "127.0.0.1"]})
    async with a_client(lookup=lookup) as client:
        answer = await client.exchange(post(extractor.extraction_url.replace("127.0.0.1", "extractor.test")))
    assert answer.status == 201
    assert extractor.requests[0].headers["Host"].startswith("extractor.test:")


async def test_a_name_is_looked_up_once_and_the_checked_address_is_called(extractor: ScriptedExtractor) -> None:
    answers = [["127.0.0.1"], ["169.254.169.254"], ["10.0.0.1"]]

    async def rebinding(_: str) -> Sequence[str]:
        return answers.pop(0)

    async with a_client(lookup=rebinding) as client:
        url = extractor.extraction_url.replace("127.0.0.1", "extractor.test")
        assert (await client.exchange(post(url))).status == 201
    assert len(answers) == 2
    async with a_client(lookup=rebinding) as client:
        with pytest.raises(EgressRefused):
            await client.exchange(post(url))


async def test_names_are_resolved_by_the_system(extractor: ScriptedExtractor) -> None:
    async with a_client(allowed_networks=(*LOOPBACK, ip_network("::1"))) as client:
        answer = await client.exchange(post(extractor.extraction_url.replace("127.0.0.1", "LocalHost")))
    assert answer.status == 201


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def secure(authority: trustme.CA) -> AsyncIterator[ScriptedExtractor]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("extractor.test", "127.0.0.1").configure_cert(context)
    async with ScriptedExtractor(tls=context) as server:
        yield server


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.mark.parametrize("host", ["127.0.0.1", "extractor.test", "extractor.test."])
async def test_tls_is_verified_by_name(authority: trustme.CA, secure: ScriptedExtractor, host: str) -> None:
    lookup = names({"extractor.test": ["127.0.0.1"], "extractor.test.": ["127.0.0.1"]})
    async with a_client(tls=trusting(authority), lookup=lookup) as client:
        assert (await client.exchange(post(secure.extraction_url.replace("127.0.0.1", host)))).status == 201


async def test_a_certificate_for_another_name_is_not_trusted(authority: trustme.CA, secure: ScriptedExtractor) -> None:
    async with a_client(tls=trusting(authority), lookup=names({"other.test": ["127.0.0.1"]})) as client:
        with pytest.raises(NoAnswer, match="certificate") as trouble:
            await client.exchange(post(secure.extraction_url.replace("127.0.0.1", "other.test")))
    assert not trouble.value.sent
    assert secure.requests == []


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(
    client: HttpExtractorClient, secure: ScriptedExtractor
) -> None:
    with pytest.raises(NoAnswer, match="certificate"):
        await client.exchange(post(secure.extraction_url, api_key=KEY))
    assert secure.requests == []


async def test_a_server_without_tls_is_no_answer(client: HttpExtractorClient, extractor: ScriptedExtractor) -> None:
    with pytest.raises(NoAnswer, match="TLS"):
        await client.exchange(post(extractor.extraction_url.replace("http:", "https:"), api_key=KEY))


async def test_a_handshake_that_never_ends_is_known_not_to_have_been_sent() -> None:
    # A server that waits for the end of a request's head takes the first half of a handshake and says nothing.
    async with RawServer(b"") as silent, a_client(connect_timeout=0.2) as client:
        with pytest.raises(NoAnswer, match="didn't accept a connection in time") as trouble:
            await client.exchange(post(silent.url.replace("http:", "https:"), api_key=KEY))
    assert not trouble.value.sent


async def test_nobody_is_sent_from_https_to_http(
    authority: trustme.CA, secure: ScriptedExtractor, extractor: ScriptedExtractor
) -> None:
    secure.on_path("/x", Reply(302, headers={"Location": f"{extractor.url}/y"}))
    async with a_client(tls=trusting(authority)) as client:
        with pytest.raises(EgressRefused, match=f"is http, no longer https. {secure.url}/x redirected there."):
            await client.exchange(get(f"{secure.url}/x"))
    assert extractor.requests == []


def logged(error: Exception) -> str:
    """Return what a log shows of an error, without the source lines of this file."""
    return "".join(line for line in traceback.format_exception(error) if __file__ not in line)


async def test_no_failure_tells_a_key_or_a_signature(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    scripts = {
        "/drop": Reply(drop=True),
        "/cut": Reply(body=b"canary", truncate=True),
        "/hang": Reply(hang=True),
        "/large": Reply(body=b"canary" * 10_000),
        "/many": Reply(headers={f"X-{i}": "canary" for i in range(200)}),
        "/long": Reply(headers={"X": "canary" * 10_000}),
        "/gzip": Reply(body=b"canary", headers={"Content-Encoding": "gzip"}),
        "/away": Reply(302, headers={"Location": "http://10.0.0.1/?sig=canary"}),
        "/strange": Reply(302, headers={"Location": "http://canary:canary@a/?sig=canary"}),
    }
    urls = [extractor.url + path for path in scripts] + ["http://127.0.0.1:1/", "http://10.0.0.1/", "nonsense:/"]
    for path, reply in scripts.items():
        extractor.on_path(path, reply)
    for url in urls:
        call = get(f"{url}?sig=canary", api_key=KEY, headers={"X-Api-Key": "canary"}, timeout=0.2)
        with pytest.raises(FluxxError) as trouble:
            await fetch(how, client, call)
        assert "canary" not in str(trouble.value)
        assert "canary" not in logged(trouble.value)
