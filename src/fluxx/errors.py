"""What can go wrong, named by what the caller should do about it.

    FluxxError
    ├── Misconfigured     stop: say it in one line, exit status 2
    ├── BadInput          tell the caller which field is wrong; nothing was done     (400 / 422)
    ├── NotFound          tell the caller that there is no such thing                (404)
    ├── Conflict          tell the caller that the state forbids it                  (409)
    ├── Unavailable       try again later: the other side can't be reached now       (503)
    ├── Poison            put the message aside (dead letter): it will never be understood
    ├── SecretMissing     fail the job: no key is stored for its extractor
    ├── EgressRefused     fail the job: its address may not be called from here
    ├── NoAnswer          try the call again: the extractor gave no usable answer
    └── TooLarge          fail the job: the answer is larger than the settings allow

Expected contention (a lost claim, a duplicate message) is not an error: it is a return value.
"""


class FluxxError(Exception):
    """Root of everything this package raises on purpose; its text is one line for a person."""


class Misconfigured(FluxxError):
    """A setting, or a thing that a setting names, makes no sense."""


class BadInput(FluxxError):
    """The caller's input can't be used.

    ``field`` names the part that is wrong; ``malformed`` tells a value that has the wrong form
    (400) from a well-formed one that makes no sense (422).
    """

    def __init__(self, message: str, *, field: str, malformed: bool = False) -> None:
        super().__init__(message)
        self.field = field
        self.malformed = malformed


class NotFound(FluxxError):
    """There is no client application, extractor, file, job or blob of that name."""


class Conflict(FluxxError):
    """The thing exists, but its state forbids what was asked."""


class Unavailable(FluxxError):
    """A database, bus, blob store, vault or registry can't be reached now; nothing was done."""


class Poison(FluxxError):
    """A message that will never be understood, with a short ``reason`` for the dead-letter queue."""

    def __init__(self, reason: str, description: str) -> None:
        super().__init__(description)
        self.reason = reason


class SecretMissing(FluxxError):
    """The secret store was asked and holds no key of that name."""


class EgressRefused(FluxxError):
    """A URL leads to an address that this service may not call.

    ``unlisted`` is the address that EGRESS_ALLOWED_NETWORKS would have to list; None where that isn't what is wrong.
    """

    def __init__(self, message: str, *, unlisted: str | None = None) -> None:
        super().__init__(message)
        self.unlisted = unlisted


class NoAnswer(FluxxError):
    """No usable answer came: refused, reset, timed out or cut off.

    ``sent`` is False when the request certainly never left, so that nothing can have happened.
    """

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class TooLarge(FluxxError):
    """The other side sent more than the settings allow."""
