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
from fluxx.extraction.answers import KeyRejected, Ready
from fluxx.model.outcome import NotReady, Refused, Retry, Submitted
from fluxx.ports.extractor import Answer

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
KEY = "sk-4f9a/Zq+7w=="
HTML = b"<!doctype html><html><body>Please sign in</body></html>"
RESULT = b'{"z": 1.0,\n "a" : 123456789012345678901234567890, "e":1E+2, "u":"\\u00e9 \xc3\xa9"}'
INLINE = b'{"isReady" : true, "result": ' + RESULT + b"}"
LINKED = b'{"isReady":true,"resultUrl":"/results/7?sig=abc"}'
REPORTED = b'{"isReady":true,"error":{"code":"E17","message":"The file is encrypted"}}'
WAIT = b'{"isReady":false}'


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
    ("status", "submission", "early_poll", "late_poll", "result"),
    [
        (200, Submitted, Retry, Retry, None),
        (201, Submitted, Retry, Retry, None),
        (202, Submitted, Retry, Retry, Retry),
        (203, Submitted, Retry, Retry, None),
        (204, Submitted, Retry, Retry, Retry),
        (205, Submitted, Retry, Retry, Retry),
        (206, Submitted, Retry, Retry, Retry),
        (300, Refused, Refused, Refused, Refused),
        (301, Refused, Refused, Refused, Refused),
        (302, Refused, Refused, Refused, Refused),
        (303, Refused, Refused, Refused, Refused),
        (304, Refused, Refused, Refused, Refused),
        (307, Refused, Refused, Refused, Refused),
        (308, Refused, Refused, Refused, Refused),
        (400, Refused, Refused, Refused, Retry),
        (401, KeyRejected, KeyRejected, KeyRejected, Retry),
        (402, Refused, Refused, Refused, Refused),
        (403, KeyRejected, KeyRejected, KeyRejected, Retry),
        (404, Refused, Retry, Refused, Retry),
        (405, Refused, Refused, Refused, Refused),
        (406, Refused, Refused, Refused, Refused),
        (408, Retry, Retry, Retry, Retry),
        (409, Submitted, Refused, Refused, Refused),
        (410, Refused, Refused, Refused, Retry),
        (413, Refused, Refused, Refused, Refused),
        (415, Refused, Refused, Refused, Refused),
        (418, Refused, Refused, Refused, Refused),
        (422, Refused, Refused, Refused, Refused),
        (425, Retry, Retry, Retry, Retry),
        (429, Retry, Retry, Retry, Retry),
        (451, Refused, Refused, Refused, Refused),
        (499, Refused, Refused, Refused, Refused),
        (500, Retry, Retry, Retry, Retry),
        (501, Retry, Retry, Retry, Retry),
        (502, Retry, Retry, Retry, Retry),
        (503, Retry, Retry, Retry, Retry),
        (504, Retry, Retry, Retry, Retry),
        (599, Retry, Retry, Retry, Retry),
        (0, Retry, Retry, Retry, Retry),
        (101, Retry, Retry, Retry, Retry),
        (600, Retry, Retry, Retry, Retry),
        (999, Retry, Retry, Retry, Retry),
    ],
)
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


BODIES: dict[str, tuple[bytes, type, type, type]] = {
    "not ready": (WAIT, Submitted, Submitted, NotReady),
    "not ready, with a BOM": (b"\xef\xbb\xbf" + WAIT, Submitted, Submitted, NotReady),
    "not ready, with blanks": (b" \r\n\t" + WAIT + b"\n", Submitted, Submitted, NotReady),
    "not ready, unknown fields": (b'{"isReady":false,"progress":[0.5]}', Submitted, Submitted, NotReady),
    "not ready, with an error": (b'{"isReady":false,"error":{"code":"x"}}', Submitted, Submitted, NotReady),
    "inline result": (INLINE, Ready, Ready, Ready),
    "inline result, with a BOM": (b"\xef\xbb\xbf" + INLINE, Ready, Ready, Ready),
    "result URL": (LINKED, Ready, Ready, Ready),
    "reported error": (REPORTED, Refused, Refused, Refused),
    "ready with nothing": (b'{"isReady":true}', Submitted, Retry, Retry),
    "ready with nulls": (b'{"isReady":true,"result":null,"resultUrl":null}', Submitted, Retry, Retry),
    "ready with an empty URL": (b'{"isReady":true,"resultUrl":"  "}', Submitted, Retry, Retry),
    "ready with a URL that is a number": (b'{"isReady":true,"resultUrl":7}', Submitted, Retry, Retry),
    "isReady as text": (b'{"isReady":"true","result":1}', Submitted, Retry, Retry),
    "isReady as a number": (b'{"isReady":1,"result":1}', Submitted, Retry, Retry),
    "isReady null": (b'{"isReady":null}', Submitted, Submitted, Retry),
    "other case": (b'{"IsReady":true,"Result":1}', Submitted, Submitted, Retry),
    "an object without isReady": (b'{"id":"17","status":"queued"}', Submitted, Submitted, Retry),
    "an error without isReady": (b'{"error":{"code":"x","message":"y"}}', Submitted, Submitted, Retry),
    "an empty object": (b"{}", Submitted, Submitted, Retry),
    "an array": (b"[]", Submitted, Retry, Retry),
    "a string": (b'"accepted"', Submitted, Retry, Retry),
    "null": (b"null", Submitted, Retry, Retry),
    "plain text": (b"OK", Submitted, Retry, Retry),
    "HTML": (HTML, Submitted, Retry, Retry),
    "XML": (b'<?xml version="1.0"?><ok/>', Submitted, Retry, Retry),
    "empty": (b"", Submitted, Submitted, Retry),
    "blank": (b" \r\n", Submitted, Submitted, Retry),
    "a BOM and nothing else": (b"\xef\xbb\xbf", Submitted, Submitted, Retry),
    "truncated": (INLINE[:-9], Submitted, Retry, Retry),
    "truncated within a character": (INLINE.partition(b"\xa9")[0], Submitted, Retry, Retry),
    "two documents": (WAIT + WAIT, Submitted, Retry, Retry),
    "NaN": (b'{"isReady":true,"result":NaN}', Submitted, Retry, Retry),
    "Infinity": (b'{"isReady":true,"result":[-Infinity]}', Submitted, Retry, Retry),
    "single quotes": (b"{'isReady': true, 'result': 1}", Submitted, Retry, Retry),
    "trailing comma": (b'{"isReady":true,"result":[1,],}', Submitted, Retry, Retry),
    "invalid UTF-8 in the result": (b'{"isReady":true,"result":"caf\xe9"}', Submitted, Retry, Retry),
    "invalid UTF-8 elsewhere": (b'{"isReady":false,"note":"caf\xe9"}', Submitted, Retry, Retry),
    "UTF-16 with a BOM": (WAIT.decode().encode("utf-16"), Submitted, Retry, Retry),
    "UTF-16 without a BOM": (WAIT.decode().encode("utf-16-le"), Submitted, Retry, Retry),
    "UTF-32": (WAIT.decode().encode("utf-32"), Submitted, Retry, Retry),
    "duplicate keys, the last counts": (b'{"isReady":true,"isReady":false}', Submitted, Submitted, NotReady),
    "nested too deeply": (b'{"isReady":true,"result":' + b"[" * 200_000, Refused, Refused, Refused),
}
"""Each kind of body, and what it means under a 201, under another success, and as a poll's 200."""


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
