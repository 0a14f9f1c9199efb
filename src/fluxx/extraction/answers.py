"""What an extractor's answer means, status by status (``matrix``) and body by body. Pure.

Called by submit, poll and collect with what ``ports.extractor`` brought. Every reason is written for an
operator and scrubbed of ``secrets``; nothing here raises, whatever was sent.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from fluxx.errors import (
    EgressRefused,
    FluxxError,
    Misconfigured,
    NoAnswer,
    NotFound,
    SecretMissing,
    TooLarge,
    Unavailable,
)
from fluxx.extraction import body, retry_after
from fluxx.extraction.body import Content, Unreadable
from fluxx.extraction.excerpt import excerpt
from fluxx.extraction.matrix import DOWNLOAD, POLL, SUBMISSION, Meaning, Step
from fluxx.model.outcome import NotReady, Refused, Retry, Submitted
from fluxx.ports.extractor import Answer
from fluxx.scrubbing import scrubbed

REPORT_LENGTH: Final = 500
"""Characters kept of an error that an extractor reports, or that a call ended with."""


NEVER: Final = {
    EgressRefused: "The extractor's address may not be called",
    TooLarge: "The answer is too large",
    SecretMissing: "The extractor can't be called without its API key",
    NotFound: "Something that the job needs is gone",
}
"""What it means that a call can't be made, or not be listened to."""


class Ready(msgspec.Struct, frozen=True):
    """The result is there: its exact bytes, or the URL that has it (perhaps relative to the polled one)."""

    inline: bytes | None = None
    result_url: str | None = None


class KeyRejected(msgspec.Struct, frozen=True):
    """The extractor doesn't take the key (401, 403): read it again and call once more; then it is final."""

    reason: str


def submission(
    answer: Answer, *, now: datetime, secrets: Sequence[str] = ()
) -> Submitted | Ready | Retry | Refused | KeyRejected:
    """Return what the answer to a submission means (story 8)."""
    case = _Case(SUBMISSION, answer, now, secrets)
    match case.meaning:
        case Meaning.KNOWN:
            return case.submitted("The extractor already had the job")
        case Meaning.READ | Meaning.TAKEN:
            return _submitted(case)
        case _:
            return case.no_success()


def polled(
    answer: Answer, *, now: datetime, grace: bool, secrets: Sequence[str] = ()
) -> NotReady | Ready | Retry | Refused | KeyRejected:
    """Return what the answer to a poll means (story 9).

    ``grace`` says that the job was submitted so recently that the extractor may not know it yet (404).
    """
    case = _Case(POLL, answer, now, secrets)
    match case.meaning:
        case Meaning.READ:
            return _read(case, body.read(answer.body))
        case Meaning.UNKNOWN:
            return case.retry("does not know the job yet") if grace else case.refused("does not know the job")
        case _:
            return case.no_success()


def downloaded(answer: Answer, *, now: datetime, secrets: Sequence[str] = ()) -> Retry | Refused | None:
    """Return what the answer of a result URL means; None where its body is the result (story 10)."""
    case = _Case(DOWNLOAD, answer, now, secrets)
    match case.meaning:
        case Meaning.WHOLE:
            return None
        case Meaning.EXPIRED:
            return case.retry("no longer gives the result at its URL; the next poll asks for a fresh one")
        case Meaning.PARTIAL:
            return case.retry("did not give the whole result")
        case Meaning.MOVED:
            return case.moved()
        case Meaning.NEVER:
            return case.refused("refused the result download")
        case _:
            return case.retry("could not give the result now")


def failure(error: FluxxError, *, secrets: Sequence[str] = ()) -> Retry | Refused:
    """Return what a call means that brought no answer at all, or could not be made."""
    text = scrubbed(str(error), secrets=secrets, length=REPORT_LENGTH)
    match error:
        case NoAnswer():
            return Retry(f"No answer from the extractor: {text}")
        case Unavailable() | Misconfigured():
            return Retry(f"This service can't go on just now: {text}", counted=False)
        case EgressRefused() | TooLarge() | SecretMissing() | NotFound():
            return Refused(f"{NEVER[type(error)]}: {text}")
        case _:
            return Retry(text)


class _Case(msgspec.Struct, frozen=True):
    """One answer at one step, and the words for what it means."""

    step: Step
    answer: Answer
    now: datetime
    secrets: Sequence[str]

    @property
    def meaning(self) -> Meaning:
        return self.step.meaning(self.answer.status)

    def wish(self, content: Content | None = None) -> float | None:
        """Return the seconds that the extractor asks us to wait: in its headers, else in its body."""
        seconds = retry_after.wish(self.answer.headers, status=self.answer.status, now=self.now)
        if seconds is not None or content is None:
            return seconds
        return retry_after.body_wish(body.value(content.retry_after), now=self.now)

    def words(self, what: str) -> str:
        """Say in one sentence that ``what`` happened, and the answer it is read from."""
        text = f"{what}: {excerpt(self.answer, secrets=self.secrets)}"
        return text if text.endswith((".", "!", "?", "…")) else f"{text}."

    def submitted(self, what: str, poll_after: float | None = None) -> Submitted:
        return Submitted(self.words(what), self.wish() if poll_after is None else poll_after)

    def retry(self, what: str) -> Retry:
        return Retry(self.words(f"The extractor {what}"), self.wish())

    def refused(self, what: str) -> Refused:
        return Refused(self.words(f"The extractor {what}"))

    def moved(self) -> Refused:
        target = scrubbed(self.answer.headers.get("location", "nowhere"), secrets=self.secrets, length=200)
        return self.refused(f"redirected the {self.step.name} to {target}, which is not followed")

    def no_success(self) -> Retry | Refused | KeyRejected:
        """Return what the status alone means where it is no success."""
        match self.meaning:
            case Meaning.KEY:
                return KeyRejected(self.words("The extractor rejected the API key"))
            case Meaning.MOVED:
                return self.moved()
            case Meaning.UNFIT:
                return self.refused("refused the file")
            case Meaning.NEVER:
                return self.refused(f"refused the {self.step.name}")
            case _:
                return self.retry(f"could not take the {self.step.name} now")


def _submitted(case: _Case) -> Submitted | Ready | Retry | Refused:
    """Read a success: nothing is asked of its body, but one that speaks of readiness is heard.

    A page of HTML under a 200 comes from a proxy or a login, not from the extractor: the job may never
    have arrived, and sending it again is harmless (``Idempotency-Key``, 409). A 201 is believed as it is.
    """
    content = body.read(case.answer.body)
    silent = isinstance(content, Content) and not body.present(content.is_ready)
    if silent or content == body.EMPTY:
        return case.submitted("Submitted")
    found = _read(case, content)
    if isinstance(found, NotReady):
        return case.submitted("Submitted", found.poll_after)
    if isinstance(found, Retry) and case.meaning is Meaning.TAKEN:
        return case.submitted("Submitted")
    return found


def _read(case: _Case, content: Content | Unreadable) -> NotReady | Ready | Retry | Refused:
    if isinstance(content, Unreadable):
        what = f"sent a body that can't be read ({content.reason})"
        return case.refused(what) if content.final else case.retry(what)
    match bytes(content.is_ready):
        case b"false":
            return NotReady(case.wish(content))
        case b"true":
            return _ready(case, content)
        case b"":
            return case.retry("sent a body without isReady")
        case _:
            return case.retry("sent an isReady that is neither true nor false")


def _ready(case: _Case, content: Content) -> Ready | Retry | Refused:
    """Take a reported error first, then an inline result, then a URL."""
    if body.value(content.error):
        return Refused(f"Extractor reported {_report(case, body.value(content.error))}")
    if body.present(content.result):
        return Ready(inline=bytes(content.result))
    url = body.value(content.result_url)
    if isinstance(url, str) and url.strip():
        return Ready(result_url=url.strip())
    return case.retry("said that the result is ready, but sent neither result nor resultUrl nor error")


def _report(case: _Case, error: object) -> str:
    """Give the extractor's own words: ``code: message`` where it keeps the contract, else what it sent."""
    text = str(error)
    if isinstance(error, dict):
        text = ": ".join(str(error[key]) for key in ("code", "message") if error.get(key)) or text
    return scrubbed(text, secrets=case.secrets, length=REPORT_LENGTH) or "an error without words"
