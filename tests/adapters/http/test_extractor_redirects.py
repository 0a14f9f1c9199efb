"""Where the HTTP extractor client lets itself be sent, and with what."""

import pytest

from fluxx.adapters.http.client import HttpExtractorClient
from fluxx.errors import EgressRefused, NoAnswer
from fluxx.ports.secrets import ApiKey
from support.calls import fetch, get, post
from support.scripted import Reply, ScriptedExtractor

KEY = ApiKey("canary-key")


async def test_a_get_is_followed_within_its_origin_with_its_key(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/a", Reply(302, headers={"Location": "b/?x=1"}))
    extractor.on_path("/b/", Reply(307, headers={"Location": f"{extractor.url}/c"}))
    extractor.on_path("/c", Reply(body=b"here"))
    answer = await client.exchange(get(f"{extractor.url}/a", api_key=KEY))
    assert answer.body == b"here"
    assert [request.headers.get("Authorization") for request in extractor.requests] == ["Bearer canary-key"] * 3


async def test_credentials_stay_at_the_origin_of_the_call_even_when_it_comes_back(
    client: HttpExtractorClient, extractor: ScriptedExtractor, how: str
) -> None:
    async with ScriptedExtractor() as other:
        extractor.on_path("/a", Reply(301, headers={"Location": f"{other.url}/b"}))
        other.on_path("/b", Reply(308, headers={"Location": f"{extractor.url}/c"}))
        extractor.on_path("/c", Reply(body=b"back"))
        headers = {"Idempotency-Key": "7", "X-Api-Key": "canary", "Accept": "application/json"}
        assert await fetch(how, client, get(f"{extractor.url}/a", api_key=KEY, headers=headers)) == b"back"
        for request in (other.requests[0], extractor.requests[1]):
            assert not {"Authorization", "Idempotency-Key", "X-Api-Key"} & set(request.headers)
            assert request.headers["Accept"] == "application/json"
            assert "canary" not in str(request.headers)


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "//[::1]/",
        "file:///etc/passwd",
        "http://user:canary@example.com/",
        "http://2852039166/",
        "http://exa mple.com/",
    ],
)
async def test_a_redirect_to_an_address_that_may_not_be_called_is_refused(
    client: HttpExtractorClient, extractor: ScriptedExtractor, location: str
) -> None:
    extractor.on_path("/x", Reply(302, headers={"Location": location}))
    with pytest.raises(EgressRefused) as refusal:
        await client.exchange(get(f"{extractor.url}/x"))
    assert "canary" not in str(refusal.value)
    assert f"{extractor.url}/x redirected there" in str(refusal.value), "it is not the address that was registered"


async def test_a_redirect_loop_ends_after_three(client: HttpExtractorClient, extractor: ScriptedExtractor) -> None:
    extractor.on_path("/x", lambda _: Reply(302, headers={"Location": "/x"}))
    with pytest.raises(NoAnswer, match="more than 3 redirects"):
        await client.exchange(get(f"{extractor.url}/x"))
    assert len(extractor.requests) == 4


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirected_submission_is_not_sent_again(
    client: HttpExtractorClient, extractor: ScriptedExtractor, status: int
) -> None:
    extractor.on_path("/extract", Reply(status, b"moved", headers={"Location": "/elsewhere"}))
    answer = await client.exchange(post(extractor.extraction_url))
    assert (answer.status, answer.body, answer.headers["location"]) == (status, b"moved", "/elsewhere")
    assert len(extractor.requests) == 1


async def test_a_redirect_without_a_location_is_the_answer(
    client: HttpExtractorClient, extractor: ScriptedExtractor
) -> None:
    extractor.on_path("/x", Reply(302, b"where?"))
    assert (await client.exchange(get(f"{extractor.url}/x"))).body == b"where?"
