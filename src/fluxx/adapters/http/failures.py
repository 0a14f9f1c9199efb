"""What can go wrong with a call, said so that it can be told: no URL's query, no key, no piece of an answer.

Raised below the client and turned there into the port's errors. Texts of the system and of libraries
are not passed on, nor kept as causes (a logged traceback would show them).
"""

import errno
import os
import ssl
from typing import Final

from fluxx.adapters.http.decoding import BrokenBody, TooMuch
from fluxx.errors import NoAnswer, TooLarge, Unavailable
from fluxx.ports.extractor import Call

CLOSED: Final = "closed the connection without an answer"
CUT_OFF: Final = "broke off in the middle of its answer"
LOST: Final = "lost the connection"
NOT_HTTP: Final = "gave an answer that isn't HTTP"
UNRESOLVED: Final = "has a name that can't be resolved"

UNREACHED: Final[tuple[tuple[type[OSError], str], ...]] = (
    (ssl.SSLCertVerificationError, "has a TLS certificate that isn't valid for it"),
    (ssl.SSLError, "doesn't speak TLS as it should"),
    (TimeoutError, "didn't accept a connection in time"),
    (OSError, "doesn't accept connections"),
)
"""Why there is no connection; the first that fits counts."""

NO_FILES: Final = "The service may open no more files: raise its limit (ulimit -n), or lower MAX_CONCURRENCY."
NO_MEMORY: Final = "The machine has no memory for another connection."
SHORTAGES: Final = {
    errno.EMFILE: NO_FILES,
    errno.ENFILE: NO_FILES,
    errno.ENOBUFS: NO_MEMORY,
    errno.ENOMEM: NO_MEMORY,
}
"""What keeps a connection from being opened here, whoever is called."""


class Broken(Exception):
    """The exchange failed. The text goes on from the name of what was called; ``sent`` is ``NoAnswer``'s."""

    def __init__(self, words: str, *, sent: bool = True) -> None:
        super().__init__(words)
        self.sent = sent


class TooSlow(Exception):
    """The call's time is over; ``sent`` is ``NoAnswer``'s."""

    def __init__(self, *, sent: bool = True) -> None:
        super().__init__()
        self.sent = sent


class OversizedHead(Exception):
    """The answer's headers go beyond their bounds."""


TROUBLE: Final = (Broken, TooSlow, OversizedHead, BrokenBody, TooMuch)
"""All that a call may run into once its address is accepted."""


def unreached(error: OSError) -> Broken | Unavailable:
    """Return what a failed attempt to connect means."""
    return _shortage(error) or Broken(next(words for kind, words in UNREACHED if isinstance(error, kind)), sent=False)


def unresolved(error: OSError) -> Broken | Unavailable:
    """Return what a failed lookup means.

    Where no file can be opened the system may say anything: that it doesn't know the name, or that an argument
    is invalid. So that is tried, whatever it says.
    """
    ours = _shortage(error) or (Unavailable(NO_FILES) if _opens_nothing() else None)
    return ours or Broken(UNRESOLVED, sent=False)


def _shortage(error: OSError) -> Unavailable | None:
    """Return what a failure means that is this machine's, and no extractor's; None for others."""
    words = SHORTAGES.get(error.errno or 0)
    return None if words is None else Unavailable(words)


def _opens_nothing() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return True
    return False


def told(trouble: Exception, where: object, call: Call) -> NoAnswer | TooLarge:
    """Return what the trouble (one of ``TROUBLE``) means for the caller; ``where`` is the target called."""
    match trouble:
        case TooMuch():
            return TooLarge(f"{where} answered with more than {call.max_bytes} bytes, the most allowed.")
        case OversizedHead():
            return TooLarge(f"{where} answered with headers beyond all measure.")
        case BrokenBody():
            return NoAnswer(f"{where} sent a body that {trouble}.")
        case TooSlow(sent=sent):
            return NoAnswer(f"{where} gave no answer within {call.timeout:g} s.", sent=sent)
        case _:
            return NoAnswer(f"{where} {trouble}.", sent=getattr(trouble, "sent", True))
