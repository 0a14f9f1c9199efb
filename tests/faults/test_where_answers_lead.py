"""Where an answer sends us: redirects and result URLs, by a real server, through the real client and steps."""

import pytest

from fluxx.model.job import Status
from fluxx.model.outcome import Extracted, NotReady, Refused, Retry
from support.answer_matrix import WAIT
from support.scripted import Reply, ScriptedExtractor
from support.steps import KEY, Steps

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_by_step(desk: Steps, status: int) -> None:
    seen = len(desk.server.requests)
    there = f"{desk.server.url}/elsewhere"
    refused = await desk.submitted(Reply(status, headers={"Location": there}))
    assert isinstance(refused, Refused)
    assert f"redirected the submission to {there}, which is not followed" in refused.reason
    assert not [request for request in desk.server.requests[seen:] if request.path == "/elsewhere"]
    desk.server.on_path("/elsewhere", Reply(body=WAIT))
    assert isinstance(await desk.polled(Reply(status, headers={"Location": "/elsewhere"})), NotReady)


REFUSED_PLACES = (
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://10.0.0.1/",
    "http://0.0.0.0/",
    "http://[::ffff:10.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://2852039166/",
    "http://0x7f.1/",
    "http://user:password@127.0.0.1/",
    "file:///etc/passwd",
    "ftp://127.0.0.1/",
    "gopher://127.0.0.1/",
)


@pytest.mark.parametrize("place", REFUSED_PLACES)
async def test_no_redirect_and_no_result_url_leads_to_a_refused_place(desk: Steps, place: str) -> None:
    for outcome in (
        await desk.polled(Reply(302, headers={"Location": place})),
        await desk.downloaded(Reply(302, headers={"Location": place})),
        await desk.downloaded(url=place),
    ):
        assert isinstance(outcome, Refused), outcome
        assert "password@" not in outcome.reason


async def test_a_result_url_that_is_none_fails_the_job(desk: Steps) -> None:
    for url in ("http://[", "http://host:99999999/", "\x00"):
        assert isinstance(await desk.downloaded(url=url), Refused)


async def test_the_key_is_shown_to_registered_origins_only(desk: Steps) -> None:
    async with ScriptedExtractor() as other:
        other.on_path("/result", Reply(body=b"{}"))
        other.on_path("/next", Reply(body=WAIT))
        assert isinstance(await desk.downloaded(url=f"{other.url}/result"), Extracted)
        await desk.polled(Reply(302, headers={"Location": f"{other.url}/next"}))
        assert len(other.requests) == 2
        for request in other.requests:
            assert KEY.reveal() not in str(request.headers)
    assert isinstance(await desk.downloaded(Reply(body=b"{}")), Extracted)
    assert desk.server.requests[-1].headers["Authorization"] == f"Bearer {KEY.reveal()}"


async def test_a_result_at_an_address_that_may_not_be_called_is_told_apart_from_the_registered_one(desk: Steps) -> None:
    outcome = await desk.downloaded(url="http://169.254.169.254/latest/meta-data")
    assert isinstance(outcome, Refused)
    assert outcome.reason.endswith("The extractor named it as resultUrl.")


async def test_an_expired_result_url_is_asked_for_anew(desk: Steps) -> None:
    job = desk.job(status=Status.STARTED)
    desk.server.on_path("/old", Reply(403, b"<Error><Code>AuthenticationFailed</Code></Error>"))
    desk.server.on_path("/new", Reply(body=b"[1]"))
    links = [Reply(body={"isReady": True, "resultUrl": path}) for path in ("/old", "/new")]
    expired = await desk.polled(*links, job=job)
    assert isinstance(expired, Retry)
    assert "the next poll asks for a fresh one" in expired.reason
    fresh = await desk.polled(job=job)
    assert isinstance(fresh, Extracted)
    assert await desk.stored(fresh.path) == b"[1]"
