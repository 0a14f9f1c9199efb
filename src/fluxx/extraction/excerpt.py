"""What may be shown of an answer: one short printable line without secrets. Pure.

Called by ``answers`` for every reason that ends in a ``StatusMessage``.
"""

from collections.abc import Sequence
from http.client import responses
from typing import Final

from fluxx.ports.extractor import Answer
from fluxx.scrubbing import scrubbed

REASON_LENGTH: Final = 80
BODY_LENGTH: Final = 300


def excerpt(answer: Answer, *, secrets: Sequence[str] = ()) -> str:
    """Return the status line and, after a colon, the beginning of the body; under 400 characters, one line."""
    phrase = answer.reason
    if phrase != responses.get(answer.status):
        phrase = scrubbed(phrase, secrets=secrets, length=REASON_LENGTH)
    line = f"HTTP {answer.status} {phrase}".rstrip()
    start = scrubbed(answer.body, secrets=secrets, length=BODY_LENGTH)
    return f"{line}: {start}" if start else line
