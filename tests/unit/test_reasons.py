"""The words for what went wrong: an operator can act on them, and no secret is among them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from fluxx import errors
from fluxx.extraction import answers
from fluxx.model.outcome import Refused, Retry, Submitted
from fluxx.ports.extractor import Answer

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
KEY = "sk-4f9a/Zq+7w=="
HTML = b"<!doctype html><html><body>Please sign in</body></html>"


def answer(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None, reason: str = "") -> Answer:
    return Answer(status, reason, headers or {}, body)


def submit(status: int, body: bytes = b"", **headers: str) -> Any:
    return answers.submission(answer(status, body, _named(headers)), now=NOW, secrets=[KEY])


def poll(status: int, body: bytes = b"", *, grace: bool = False, **headers: str) -> Any:
    return answers.polled(answer(status, body, _named(headers)), now=NOW, grace=grace, secrets=[KEY])


def download(status: int, body: bytes = b"", **headers: str) -> Any:
    return answers.downloaded(answer(status, body, _named(headers)), now=NOW, secrets=[KEY])


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.mark.parametrize(
    ("meaning", "words"),
    [
        (lambda: submit(201, b'{"id": 5}'), 'Submitted: HTTP 201: {"id": 5}.'),
        (lambda: submit(409), "The extractor already had the job: HTTP 409."),
        (lambda: submit(400, b"unsupported file"), "The extractor refused the file: HTTP 400: unsupported file."),
        (lambda: submit(503, b"busy!"), "The extractor could not take the submission now: HTTP 503: busy!"),
        (lambda: submit(401, b"key " + KEY.encode()), "The extractor rejected the API key: HTTP 401: key ***."),
        (
            lambda: submit(307, location="https://h/in?token=t0p"),
            "The extractor redirected the submission to https://h/in?token=***, which is not followed: HTTP 307.",
        ),
        (lambda: poll(302), "The extractor redirected the poll to nowhere, which is not followed: HTTP 302."),
        (lambda: poll(404), "The extractor does not know the job: HTTP 404."),
        (lambda: poll(404, grace=True), "The extractor does not know the job yet: HTTP 404."),
        (lambda: poll(200), "The extractor sent a body that can't be read (empty): HTTP 200."),
        (
            lambda: poll(200, HTML),
            "The extractor sent a body that can't be read (HTML or XML, not JSON): HTTP 200: " + HTML.decode() + ".",
        ),
        (
            lambda: poll(200, b"[1]"),
            "The extractor sent a body that can't be read (JSON, but not an object): HTTP 200: [1].",
        ),
        (
            lambda: poll(200, b'{"result":"\\uDE00"}'),
            ("The extractor sent a body that can't be read (JSON with half of a surrogate pair in it, which is no "
            'character): HTTP 200: {"result":"\\uDE00"}.'),
        ),
        (
            lambda: poll(200, b'{"result":"\\ud83d'),
            ("The extractor sent a body that can't be read (not valid JSON (Input data was truncated)): HTTP 200: "
            '{"result":"\\ud83d.'),
        ),
        (lambda: poll(200, b"{}"), "The extractor sent a body without isReady: HTTP 200: {}."),
        (
            lambda: poll(200, b'{"isReady":true}'),
            (
                "The extractor said that the result is ready, but sent neither result nor resultUrl nor error: "
                'HTTP 200: {"isReady":true}.'
            ),
        ),
        (
            lambda: download(403),
            "The extractor no longer gives the result at its URL; the next poll asks for a fresh one: HTTP 403.",
        ),
        (lambda: download(206), "The extractor did not give the whole result: HTTP 206."),
        (lambda: download(500), "The extractor could not give the result now: HTTP 500."),
        (lambda: download(415), "The extractor refused the result download: HTTP 415."),
    ],
)  # fmt: skip
def test_the_reasons_are_words_to_act_on(meaning: Callable[[], Any], words: str) -> None:
    found = meaning()
    assert (found.message if isinstance(found, Submitted) else found.reason) == words


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (errors.NoAnswer("timed out"), Retry("No answer from the extractor: timed out")),
        (errors.NoAnswer("refused", sent=False), Retry("No answer from the extractor: refused")),
        (
            errors.Unavailable("vault: timed out"),
            Retry("This service can't go on just now: vault: timed out", counted=False),
        ),
        (
            errors.Misconfigured("no container"),
            Retry("This service can't go on just now: no container", counted=False),
        ),
        (errors.EgressRefused("10.0.0.1"), Refused("The extractor's address may not be called: 10.0.0.1")),
        (errors.TooLarge("more than 5 bytes"), Refused("The answer is too large: more than 5 bytes")),
        (errors.SecretMissing("no key"), Refused("The extractor can't be called without its API key: no key")),
        (errors.NotFound("no such file"), Refused("Something that the job needs is gone: no such file")),
        (errors.Conflict("changed"), Retry("changed")),
        (errors.FluxxError("odd"), Retry("odd")),
    ],
)
def test_a_call_without_an_answer(error: errors.FluxxError, meaning: object) -> None:
    assert answers.failure(error) == meaning


def test_an_error_text_is_scrubbed_and_short() -> None:
    found = answers.failure(errors.NoAnswer(f"GET https://h/?sig=abc {KEY} " + "x" * 9000), secrets=[KEY])
    assert found.reason.startswith("No answer from the extractor: GET https://h/?sig=*** *** xxx")
    assert len(found.reason) < 600
