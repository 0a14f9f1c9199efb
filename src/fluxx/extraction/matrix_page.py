"""The answer matrix as Markdown, for ``docs/extractor-contract.md``; compared with it by a test.

Drawn from what the code does: the statuses from ``matrix``, the bodies by asking ``answers`` about examples.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from http.client import responses
from typing import Final

from fluxx.extraction import answers
from fluxx.extraction.matrix import STEPS
from fluxx.ports.extractor import Answer

BODIES: Final = (
    ('`{"isReady": false}`', b'{"isReady": false}'),
    ('`{"isReady": true, "result": …}`', b'{"isReady": true, "result": {"pages": 3}}'),
    ('`{"isReady": true, "resultUrl": "…"}`', b'{"isReady": true, "resultUrl": "/results/17"}'),
    ('`{"isReady": true, "error": {"code": …, "message": …}}`', b'{"isReady": true, "error": {"code": "E17"}}'),
    ("`isReady` true with none of the three, or with null", b'{"isReady": true, "result": null}'),
    ("an object without `isReady`", b'{"status": "queued"}'),
    ("`isReady` neither true nor false", b'{"isReady": "yes"}'),
    ("empty", b""),
    ("HTML, XML or plain text", b"<html>Please sign in</html>"),
    ("JSON that is not an object", b'["accepted"]'),
    ("truncated JSON", b'{"isReady": true, "resu'),
    ("`NaN`, `Infinity`, comments, trailing commas", b'{"isReady": true, "result": NaN}'),
    ("half a surrogate pair, as in `\\ud83d` alone", b'{"isReady": true, "result": "\\ud83d"}'),
    ("UTF-8 with a byte order mark", b'\xef\xbb\xbf{"isReady": false}'),
    ("any other encoding, or invalid UTF-8", '{"isReady": true, "result": "é"}'.encode("latin-1")),
    ("a key that comes twice: the last one counts", b'{"isReady": true, "isReady": false}'),
    ("JSON nested beyond some hundred levels", b'{"isReady": true, "result": ' + b"[" * 100_000),
)
WORDS: Final = {
    "Submitted": "submitted",
    "NotReady": "not ready",
    "Ready": "the result is taken",
    "Retry": "tried again",
    "Refused": "the job fails",
}
CLASSES: Final = {2: "any other 2xx", 3: "3xx", 4: "any other 4xx", 5: "5xx"}

_SOME_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)


def render() -> str:
    """Return the two tables: what a status means, and what the body of a success means."""
    statuses = _table(("Status", *(step.name.capitalize() for step in STEPS)), _status_rows())
    bodies = _table(("Body", "201 to a submission", "200 or 202 to a submission", "200 to a poll"), _body_rows())
    return f"{statuses}\n\nThe body of a success:\n\n{bodies}"


def _status_rows() -> list[Sequence[str]]:
    """Return one row for the statuses of a class that mean the same at every step."""
    known = sorted({status for step in STEPS for status in step.statuses if status > max(CLASSES)})
    rows: list[Sequence[str]] = []
    for hundreds, rest in CLASSES.items():
        alike: dict[tuple[str, ...], list[str]] = {}
        for status in known:
            if status // 100 == hundreds:
                alike.setdefault(_meanings(status), []).append(f"{status} {responses[status]}")
        alike.setdefault(_meanings(hundreds * 100 + 99), []).append(rest)
        rows += [(", ".join(names), *meanings) for meanings, names in alike.items()]
    return [*rows, ("anything else", *_meanings(999))]


def _meanings(status: int) -> tuple[str, ...]:
    return tuple(step.meaning(status).value for step in STEPS)


def _body_rows() -> list[Sequence[str]]:
    return [(name, _submitted(201, body), _submitted(200, body), _polled(body)) for name, body in BODIES]


def _submitted(status: int, body: bytes) -> str:
    return _word(answers.submission(Answer(status, "", {}, body), now=_SOME_TIME))


def _polled(body: bytes) -> str:
    return _word(answers.polled(Answer(200, "", {}, body), now=_SOME_TIME, grace=False))


def _word(meaning: object) -> str:
    return WORDS[type(meaning).__name__]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
