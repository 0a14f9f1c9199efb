"""Every reason that this service gives has a kind, with advice that fits: none can be forgotten."""

import ast
import inspect
from collections.abc import Iterator
from datetime import UTC, datetime
from types import ModuleType
from typing import Final

import pytest

from fluxx import errors
from fluxx.extraction import answers, asking, body, collect, finish, intervention, poll, submit
from fluxx.model import deadlines, kinds, transitions
from fluxx.model.kinds import OTHER, Kind, kind_of
from fluxx.ports.extractor import Answer
from support.answer_matrix import BODIES, STATUSES

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TELLING: Final = {
    "Retry": "",
    "Refused": "",
    "KeyRejected": "",
    "_failed": "",
    "retry": "The extractor ",
    "refused": "The extractor ",
}
"""The calls that give a reason, and what stands before it."""
MODULES: Final = (answers, asking, body, collect, finish, intervention, poll, submit, deadlines, transitions)


ELSEWHERE: Final = {kinds.CANCELLED, kinds.POLLS, kinds.KEY, kinds.ADDRESS, kinds.TOO_LARGE, kinds.GONE}
"""Kinds whose reasons are put together, and tried below or beside ``why``."""


def steps_of(answer: Answer) -> Iterator[object]:
    """What an answer means at every step."""
    yield answers.submission(answer, now=NOW)
    yield answers.downloaded(answer, now=NOW)
    for grace in (True, False):
        yield answers.polled(answer, now=NOW, grace=grace)


def answered() -> Iterator[Answer]:
    yield from (Answer(row[0], "", {}, b"") for row in STATUSES)
    yield from (Answer(status, "", {}, each[0]) for each in BODIES.values() for status in (200, 201, 202))


@pytest.mark.parametrize("answer", [*answered()], ids=lambda answer: f"{answer.status} {answer.body[:30]!r}")
def test_whatever_an_extractor_answers_has_a_kind(answer: Answer) -> None:
    reasons = [meaning.reason for meaning in steps_of(answer) if hasattr(meaning, "reason")]
    assert [reason for reason in reasons if kind_of(reason) is OTHER] == []


def beginnings(module: ModuleType) -> Iterator[str]:
    """The literal beginnings of the reasons that a module gives."""
    for call in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(call, ast.Call) and call.args:
            name = getattr(call.func, "id", getattr(call.func, "attr", ""))
            if name in TELLING:
                for argument in call.args:
                    yield from (TELLING[name] + text for text in _literals(argument))


def _literals(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            yield text
        case ast.IfExp(body=one, orelse=another):
            yield from _literals(one)
            yield from _literals(another)
        case _:
            pass


WRITTEN: Final = [text for module in MODULES for text in beginnings(module)]


@pytest.mark.parametrize("text", WRITTEN)
def test_every_reason_in_the_code_has_a_kind(text: str) -> None:
    assert kind_of(f"{text}…") is not OTHER


def test_the_code_is_searched_well_enough() -> None:
    for kind in vars(kinds).values():
        if isinstance(kind, Kind) and kind not in {OTHER, *ELSEWHERE}:
            assert kind in map(kind_of, WRITTEN), kind.name


@pytest.mark.parametrize(
    ("status", "submission", "poll_", "download"),
    [
        (400, kinds.FILE_REFUSED, kinds.REFUSED, kinds.NO_LONGER_THERE),
        (401, kinds.KEY, kinds.KEY, kinds.NO_LONGER_THERE),
        (404, kinds.REFUSED, kinds.UNKNOWN, kinds.NO_LONGER_THERE),
        (410, kinds.REFUSED, kinds.REFUSED, kinds.NO_LONGER_THERE),
        (413, kinds.FILE_REFUSED, kinds.REFUSED, kinds.REFUSED),
        (415, kinds.FILE_REFUSED, kinds.REFUSED, kinds.REFUSED),
        (422, kinds.FILE_REFUSED, kinds.REFUSED, kinds.REFUSED),
        (302, kinds.REFUSED, kinds.REFUSED, kinds.REFUSED),
        (503, kinds.BUSY, kinds.BUSY, kinds.BUSY),
        (206, None, kinds.UNREADABLE, kinds.UNREADABLE),
    ],
)
def test_the_advice_fits_the_step(status: int, submission: Kind | None, poll_: Kind, download: Kind) -> None:
    found = [*steps_of(Answer(status, "", {}, b"API key"))]
    told = [kind_of(meaning.reason) if hasattr(meaning, "reason") else None for meaning in found]
    if submission is not None:
        assert told[0] is submission
    assert (told[1], told[3]) == (download, poll_)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.NoAnswer("timed out"), kinds.NO_ANSWER),
        (errors.Unavailable("The service may open no more files."), kinds.AWAY),
        (errors.EgressRefused("10.0.0.1"), kinds.ADDRESS),
        (errors.TooLarge("more than 5 bytes"), kinds.TOO_LARGE),
        (errors.SecretMissing("The API key is disabled."), kinds.KEY),
        (errors.NotFound("There is no file 7."), kinds.GONE),
    ],
)
def test_what_a_call_runs_into_has_a_kind_whatever_its_words(error: errors.FluxxError, kind: Kind) -> None:
    assert kind_of(answers.failure(error).reason) is kind
