"""The answer matrix, row by row: what each status and each body means at each step."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.extraction import answers
from fluxx.extraction.answers import Ready
from fluxx.model.outcome import Refused, Submitted
from fluxx.ports.extractor import Answer
from support.answer_matrix import BODIES, RESULT, STATUSES

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
KEY = "sk-4f9a/Zq+7w=="


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


@pytest.mark.parametrize(("status", "submission", "early_poll", "late_poll", "result"), STATUSES)
def test_every_status_with_an_empty_body(
    status: int,
    submission: type,
    early_poll: type,
    late_poll: type,
    result: type | None,
) -> None:
    assert type(submit(status)) is submission
    assert type(poll(status, grace=True)) is early_poll
    assert type(poll(status, grace=False)) is late_poll
    assert type(download(status)) is (result or type(None))


@pytest.mark.parametrize("name", BODIES)
def test_every_kind_of_body(name: str) -> None:
    body, created, accepted, polled = BODIES[name]
    assert type(submit(201, body)) is created
    assert type(submit(200, body)) is accepted
    assert type(submit(202, body)) is accepted
    assert type(poll(200, body)) is polled
    assert type(submit(409, body)) is Submitted
    assert download(200, body) is None


@pytest.mark.parametrize(
    "result",
    [
        RESULT, b"0", b"-0.0", b"false", b'""', b"[]", b"{}", b'"null"', b"1e999", b"0.10000000000000000000001",
        b'{"a":1,"a":2}', b'{ "b":1, "a":{\n"c":[ ]}}', b'"\\u0000\\/"', '"日本\u2028"'.encode(),
    ],
)  # fmt: skip
def test_an_inline_result_keeps_its_bytes(result: bytes) -> None:
    body = b'{"isReady":true,  "result" :\t' + result + b' , "resultUrl":null,"error":null}'
    assert poll(200, body) == Ready(inline=result)
    assert submit(200, body) == Ready(inline=result)


@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        (b'{"isReady":true,"result":1,"resultUrl":"/x"}', Ready(inline=b"1")),
        (b'{"isReady":true,"result":null,"resultUrl":" https://h/x "}', Ready(result_url="https://h/x")),
        (b'{"isReady":true,"result":1,"error":{"code":"E","message":"m"}}', Refused("Extractor reported E: m")),
        (b'{"isReady":true,"error":{"message":"m"}}', Refused("Extractor reported m")),
        (b'{"isReady":true,"error":{"code":404,"message":null}}', Refused("Extractor reported 404")),
        (b'{"isReady":true,"error":"out of paper"}', Refused("Extractor reported out of paper")),
        (b'{"isReady":true,"error":["a"]}', Refused("Extractor reported ['a']")),
        (b'{"isReady":true,"error":{"code":"E","message":"sk-4f9a/Zq+7w=="}}', Refused("Extractor reported E: ***")),
        (b'{"isReady":true,"error":{},"result":1}', Ready(inline=b"1")),
        (b'{"isReady":true,"error":"","result":1}', Ready(inline=b"1")),
        (b'{"isReady":true,"error":false,"result":1}', Ready(inline=b"1")),
    ],
)  # fmt: skip
def test_of_error_result_and_url_the_first_counts(body: bytes, meaning: object) -> None:
    assert poll(200, body) == meaning


anything = st.builds(
    Answer,
    st.integers(-1, 1100),
    st.text(max_size=50),
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset", "location", "content-type"]),
        st.one_of(st.text(), st.from_regex(r"[A-Z][a-z]{2}, \d\d Mar \d{4,6} \d\d:\d\d:\d\d (GMT|[+-]\d{4})")),
    ),
    st.one_of(
        st.binary(max_size=300),
        st.text(max_size=200).map(lambda text: text.encode("utf-8", errors="replace")),
        st.dictionaries(
            st.sampled_from(["isReady", "result", "resultUrl", "error", "retryAfter", "x"]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
                max_leaves=5,
            ),
        ).map(lambda value: json.dumps(value).encode()),
    ),
)


@given(found=anything, grace=st.booleans())
def test_nothing_raises_and_every_reason_is_one_bounded_line(found: Answer, *, grace: bool) -> None:
    secrets = ["", "abc", KEY]
    for meaning in (
        answers.submission(found, now=NOW, secrets=secrets),
        answers.polled(found, now=NOW, grace=grace, secrets=secrets),
        answers.downloaded(found, now=NOW, secrets=secrets),
    ):
        words = getattr(meaning, "reason", getattr(meaning, "message", ""))
        assert len(words) <= 1000
        assert words.isprintable()
        wish = getattr(meaning, "after", getattr(meaning, "poll_after", None))
        assert wish is None or 0 <= wish <= 366 * 86400


@given(value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=9))
def test_any_inline_result_but_null_comes_through_to_the_byte(value: object) -> None:
    result = json.dumps(value, ensure_ascii=False).encode("utf-8", errors="replace")
    found = poll(200, b'{"isReady":true,"result":' + result + b"}")
    if value is None:
        assert re.match("The extractor said", found.reason)
    else:
        assert found == Ready(inline=result)
