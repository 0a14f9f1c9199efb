"""What can go wrong with a call, said so that it can be told: no URL's query, no key, no piece of an answer.

Raised below the client and turned there into the port's errors. Texts of the system and of libraries
are not passed on, nor kept as causes (a logged traceback would show them).
"""

import ssl
from typing import Final

from fluxx.adapters.http.decoding import BrokenBody, TooMuch
from fluxx.errors import NoAnswer, TooLarge
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


def unreached(error: OSError) -> Broken:
    """Return what a failed attempt to connect means."""
    return Broken(next(words for kind, words in UNREACHED if isinstance(error, kind)), sent=False)


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
