"""The answer matrix over the wire: every row and every body by a real server, through the real client and steps.

What happens to a job after such outcomes (how often, how long, what its history says) is in ``story``; what a call may
reach, and the bounds of an answer, in ``adapters/http``.
"""

import gzip
import re
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from fluxx.extraction import matrix_page
from fluxx.extraction.answers import KeyRejected, Ready
from fluxx.extraction.matrix import STEPS
from fluxx.extraction.poll import NOT_FOUND_GRACE
from fluxx.model.outcome import Extracted, NotReady, Refused, Retry, Submitted
from support.answer_matrix import BODIES, HTML, INLINE, RESULT, STATUSES, WAIT
from support.calls import endless
from support.raw_server import RawServer
from support.scripted import Received, Reply, ScriptedExtractor
from support.steps import KEY, LARGEST, Steps

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Path(__file__).parents[2] / "docs" / "extractor-contract.md"
BODILESS = {204, 205, 304}
ON_THE_WIRE = [row for row in STATUSES if 200 <= row[0] <= 999]
ONCE_SEEN = {"poll_attempt_count": 1}
OUTCOME_OF = {KeyRejected: Refused, Ready: Extracted}


def is_a(outcome: object, expected: type) -> bool:
    return type(outcome) is OUTCOME_OF.get(expected, expected)


async def test_every_row_of_the_matrix_is_among_those_that_are_driven() -> None:
    driven = {row[0] for row in ON_THE_WIRE}
    for step in STEPS:
        for status in step.statuses:
            assert status in driven or any(one // 100 == status for one in driven)


@pytest.mark.parametrize("row", ON_THE_WIRE, ids=lambda row: str(row[0]))
async def test_every_status_at_every_step(desk: Steps, row: tuple[int, type, type, type, type | None]) -> None:
    status, submission, early_poll, late_poll, download = row
    words = {} if status in BODILESS else {"body": b"" if status < 300 else HTML}
    reply = Reply(status, **words)
    assert is_a(await desk.submitted(reply, reply), submission)
    assert is_a(await desk.polled(reply, reply), early_poll)
    assert is_a(await desk.polled(reply, reply, **ONCE_SEEN), late_poll)
    assert is_a(await desk.downloaded(reply), download or Extracted)


@pytest.mark.parametrize(("step", "what"), [("submission", "file"), ("poll",) * 2, ("result download",) * 2])
async def test_the_reason_holds_the_status_line_and_the_beginning_of_the_body(
    desk: Steps, step: str, what: str
) -> None:
    reply = Reply(422, b'{"detail": "page 3 is locked"}')
    send = {"submission": desk.submitted, "poll": desk.polled, "result download": desk.downloaded}[step]
    outcome = await send(reply)
    assert isinstance(outcome, Refused)
    assert outcome.reason == (
        f'The extractor refused the {what}: HTTP 422 Unprocessable Entity: {{"detail": "page 3 is locked"}}.'
    )


TYPES = (None, "application/json", "text/html", "application/json; charset=iso-8859-1", "nonsense")


@pytest.mark.parametrize("name", BODIES)
async def test_every_kind_of_body(desk: Steps, name: str) -> None:
    body, created, accepted, polled = BODIES[name]
    for number, kind in enumerate(TYPES):
        headers = {"Content-Type": kind} if kind else {}
        if number % 2:
            body, headers = gzip.compress(BODIES[name][0]), headers | {"Content-Encoding": "gzip"}
        assert is_a(await desk.submitted(Reply(201, body, headers)), created)
        assert is_a(await desk.submitted(Reply(202, body, headers)), accepted)
        assert is_a(await desk.polled(Reply(200, body, headers)), polled)
        body = BODIES[name][0]


@pytest.mark.parametrize(("name", "body"), matrix_page.BODIES, ids=[name for name, _ in matrix_page.BODIES])
async def test_each_row_of_the_page_is_what_happens(desk: Steps, name: str, body: bytes) -> None:
    happened = (
        await desk.submitted(Reply(201, body)),
        await desk.submitted(Reply(200, body)),
        await desk.polled(Reply(200, body)),
    )
    words = [matrix_page.WORDS["Ready" if isinstance(one, Extracted) else type(one).__name__] for one in happened]
    assert f"| {name} | {' | '.join(words)} |" in PAGE.read_text().splitlines()


async def test_any_body_behind_a_result_url_is_the_result_to_the_byte(desk: Steps) -> None:
    for body in [one[0] for one in BODIES.values()] + [b"\x00\xff not JSON at all"]:
        outcome = await desk.downloaded(Reply(body=body))
        assert isinstance(outcome, Extracted)
        assert await desk.stored(outcome.path) == body


async def test_an_inline_result_keeps_its_bytes(desk: Steps) -> None:
    for outcome in (await desk.polled(Reply(body=INLINE)), await desk.submitted(Reply(201, INLINE))):
        assert isinstance(outcome, Extracted)
        assert await desk.stored(outcome.path) == RESULT


def sent(value: str) -> str:
    """Return a header's value; ``<in 600 s>`` stands for a date that is made when the test runs."""
    ahead = re.fullmatch(r"<in (-?\d+) s>", value)
    if ahead is None:
        return value
    return format_datetime(datetime.now(UTC) + timedelta(seconds=int(ahead[1])), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"Retry-After": "0.5"}, 0.5, 0.5),
        ({"Retry-After": "0"}, 0, 0),
        ({"Retry-After": "-30"}, 0, 0),
        ({"Retry-After": "<in 600 s>"}, 500, 600),
        ({"Retry-After": "<in -600 s>"}, 0, 0),
        ({"Retry-After": "9" * 300}, 366 * 86400, 366 * 86400),
        ({"Retry-After": "soon"}, None, None),
        ({"Retry-After": ""}, None, None),
        ({"Retry-After": "5, 7"}, None, None),
        ({"retry-after-ms": "250"}, 0.25, 0.25),
        ({"X-RateLimit-Reset": "20"}, 20, 20),
        ({}, None, None),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
async def test_retry_after_in_all_its_forms(
    desk: Steps, headers: dict[str, str], least: float | None, most: float | None
) -> None:
    reply = Reply(429, b"slow down", {name: sent(value) for name, value in headers.items()})
    for outcome in (await desk.submitted(reply), await desk.polled(reply), await desk.downloaded(reply)):
        assert isinstance(outcome, Retry)
        assert (outcome.after is None) if least is None else (least <= (outcome.after or 0.0) <= (most or 0.0))


async def test_a_wish_counts_with_good_answers_too(desk: Steps) -> None:
    taken = await desk.submitted(Reply(201, b"", {"Retry-After": "4"}))
    assert isinstance(taken, Submitted)
    assert taken.poll_after == 4
    assert await desk.polled(Reply(body=WAIT, headers={"Retry-After": "4"})) == NotReady(4.0)
    assert await desk.polled(Reply(body={"isReady": False, "retryAfter": 9})) == NotReady(9.0)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("step", ["submitted", "polled"])
async def test_a_rejected_key_is_read_again_once_and_tried_where_it_changed(
    desk: Steps, status: int, step: str
) -> None:
    shown: list[str] = []

    def door(request: Received) -> Reply | None:
        shown.append(request.headers["Authorization"])
        return Reply(body=WAIT) if shown[-1] == "Bearer rotated" else Reply(status, b"not with that key")

    send: Any = getattr(desk, step)
    unchanged = await send(door)
    assert isinstance(unchanged, Refused)
    assert "rejected the API key" in unchanged.reason
    assert shown == [f"Bearer {KEY.reveal()}"]
    stored = desk.world.settings.fluxx_home / "secrets" / str(desk.extractor_id)
    stored.write_text("rotated")  # behind the back of the cache, as another process does
    try:
        assert isinstance(await send(door), Submitted if step == "submitted" else NotReady)
        assert shown[1:] == [f"Bearer {KEY.reveal()}", "Bearer rotated"]
        stored.write_text("rotated again, in vain")
        del shown[:]
        assert isinstance(await send(lambda _: Reply(status)), Refused)
    finally:
        await desk.world.secrets.set_api_key(desk.extractor_id, KEY)


async def test_a_key_that_is_gone_fails_the_job(desk: Steps) -> None:
    await desk.world.secrets.delete_api_key(desk.extractor_id)
    try:
        outcome = await desk.submitted()
    finally:
        await desk.world.secrets.set_api_key(desk.extractor_id, KEY)
    assert outcome == Refused(
        f"The extractor can't be called without its API key: No API key is stored for extractor {desk.extractor_id}."
    )


async def test_an_unknown_job_has_a_grace_and_then_none(desk: Steps) -> None:
    gone = Reply(404, b"no such job")
    for errors in range(NOT_FOUND_GRACE):
        assert isinstance(await desk.polled(gone, error_count=errors), Retry)
    assert isinstance(await desk.polled(gone, error_count=NOT_FOUND_GRACE), Refused)
    assert isinstance(await desk.polled(gone, poll_attempt_count=1), Refused)


LOST = {
    "dropped without an answer": Reply(drop=True),
    "cut off in the middle": Reply(body=INLINE, truncate=True),
    "never answered": Reply(hang=True),
    "broken gzip": Reply(body=b"\x1f\x8b\x08 nothing of the kind", headers={"Content-Encoding": "gzip"}),
    "gzip cut off": Reply(body=gzip.compress(INLINE * 9)[:-9], headers={"Content-Encoding": "gzip"}),
    "an encoding that nobody asked for": Reply(body=INLINE, headers={"Content-Encoding": "br"}),
}


@pytest.mark.parametrize("name", LOST)
async def test_an_answer_that_is_lost_is_tried_again_at_every_step(desk: Steps, name: str) -> None:
    for outcome in (
        await desk.submitted(LOST[name]),
        await desk.polled(LOST[name]),
        await desk.downloaded(LOST[name]),
    ):
        assert isinstance(outcome, Retry), outcome
        assert outcome.counted
        assert "No answer" in outcome.reason


async def test_a_connection_that_never_was_is_tried_again(desk: Steps) -> None:
    async with ScriptedExtractor() as gone:
        url = gone.url
    outcome = await desk.downloaded(url=f"{url}/result")
    assert isinstance(outcome, Retry)
    assert "doesn't accept connections" in outcome.reason


@pytest.mark.parametrize(
    "answer",
    [
        b"\x16\x03\x01\x00\x00",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"\r\n\r\n\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_tried_again(desk: Steps, answer: bytes) -> None:
    async with RawServer(answer, then_close=True) as server:
        outcome = await desk.downloaded(url=f"{server.url}/result")
    assert isinstance(outcome, Retry)


TOO_LARGE = {
    "declared": Reply(body=b"x" * (LARGEST + 1)),
    "endless": Reply(body=endless()),
    "a bomb": Reply(body=zlib.compress(bytes(100 * LARGEST)), headers={"Content-Encoding": "deflate"}),
}


@pytest.mark.parametrize("name", TOO_LARGE)
@pytest.mark.parametrize("step", ["submitted", "polled", "downloaded"])
async def test_what_is_too_large_fails_the_job(desk: Steps, name: str, step: str) -> None:
    reply = TOO_LARGE[name] if name != "endless" else Reply(body=endless())
    outcome = await getattr(desk, step)(reply)
    assert isinstance(outcome, Refused)
    assert f"more than {LARGEST} bytes" in outcome.reason


async def test_every_submission_of_a_job_bears_its_id(desk: Steps) -> None:
    job = desk.job()
    assert isinstance(await desk.submitted(Reply(drop=True), Reply(409, b"already here"), job=job), Retry)
    assert isinstance(await desk.submitted(job=job), Submitted)
    first, second = desk.server.submissions(job.job_id)
    for request in (first, second):
        assert request.headers["Idempotency-Key"] == str(job.job_id)
        assert request.json["jobId"] == str(job.job_id)
