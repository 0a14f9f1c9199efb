"""What the name and the value of a stored API key may look like, the same for every secret store."""

import re
from typing import Final
from uuid import UUID

from fluxx.errors import BadInput, SecretMissing
from fluxx.ports.secrets import ApiKey

LONGEST_KEY: Final = 25_000
"""Bytes: what Azure Key Vault takes as the value of a secret."""

_NAME: Final = re.compile(r"[0-9a-zA-Z-]{1,127}")
_VALUE: Final = re.compile(r"[!-~]+(?:[ \t]+[!-~]+)*")


def secret_name(extractor_id: UUID) -> str:
    """Return the name that the extractor's key is stored under: its id (story 6).

    Raises ``BadInput`` for what Key Vault wouldn't take as a name: the SDK doesn't check it.
    """
    name = str(extractor_id)
    if not _NAME.fullmatch(name):
        raise BadInput("An extractor's id must be a UUID.", field="clientApplicationExtractorId", malformed=True)
    return name


def checked_key(key: ApiKey) -> str:
    """Return the key itself; raise ``BadInput`` where it can't be sent in an ``Authorization`` header.

    Source: RFC 9110, 5.5 (field values): visible ASCII with inner blanks; no line breaks.
    """
    value = key.reveal()
    if len(value) > LONGEST_KEY or not _VALUE.fullmatch(value):
        raise BadInput("An API key must be one line of visible ASCII characters.", field="apiKey")
    return value


def usable_key(name: str, value: str) -> ApiKey:
    """Return what the store keeps for the extractor ``name``, without one newline that an editor left at its end.

    Raises ``SecretMissing`` where that is nothing, or nothing that a header can carry.
    """
    value = value.removesuffix("\n").removesuffix("\r")
    if not value:
        raise SecretMissing(f"The API key stored for extractor {name} is empty.")
    if not _VALUE.fullmatch(value):
        raise SecretMissing(f"The API key stored for extractor {name} is not one line of visible ASCII characters.")
    return ApiKey(value)
