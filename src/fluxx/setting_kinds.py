"""The kinds of text that settings hold: each says what makes sense, before anything is called or made by it.

Errors say the form that is wanted and never quote what is there: it may hold a secret.
"""

import re
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr


def _url(value: str) -> str:
    """Return a URL that can be called; raises ``ValueError``."""
    if not value.isprintable() or " " in value or "\\" in value:
        raise ValueError("must be a URL without spaces, backslashes or control characters")
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise ValueError("must be a URL, and its host or port can't be understood") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError("must be a whole URL, e.g. https://host.example:8080")
    return value


def _base_url(value: str) -> str:
    """Return a URL that paths can be appended to; raises ``ValueError``."""
    if "?" in value or "#" in value:
        raise ValueError("must end with its path: there can be no ? or # in it")
    return value


def _bearer(value: SecretStr) -> SecretStr:
    """Return a key that a header can carry; raises ``ValueError``."""
    if not all("!" <= letter <= "~" for letter in value.get_secret_value()):
        raise ValueError("must be of ASCII letters, digits and signs, without spaces")
    return value


def _like(pattern: str, words: str) -> AfterValidator:
    """Return a check that the whole text is like ``pattern``; ``words`` say what it must be."""
    wanted = re.compile(pattern)

    def check(value: str) -> str:
        if not wanted.fullmatch(value):
            raise ValueError(f"must be {words}")
        return value

    return AfterValidator(check)


Url: TypeAlias = Annotated[str, AfterValidator(_url)]
BaseUrl: TypeAlias = Annotated[Url, AfterValidator(_base_url)]
HostName: TypeAlias = Annotated[
    str, _like(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", "a host, e.g. mine.servicebus.windows.net")
]
BearerKey: TypeAlias = Annotated[SecretStr, AfterValidator(_bearer)]

# Source: learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules. The database's own topics
# have the same names, so that a service can move.
Topic: TypeAlias = Annotated[
    str, _like(r"(?=.{1,260}$)[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?", "a topic's name: letters, digits and . _ / -")
]
Subscription: TypeAlias = Annotated[
    str, _like(r"(?=.{1,50}$)[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", "at most 50 letters, digits and . _ -")
]
Container: TypeAlias = Annotated[
    str, _like(r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*", "3 to 63 small letters, digits and single hyphens")
]
