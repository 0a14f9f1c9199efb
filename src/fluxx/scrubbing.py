"""Text without secrets: for status messages, logs, dead letters and whatever else is shown. Pure.

Known secrets are masked however they are written (plain, URL-encoded, base64 at any alignment, JSON- or HTML-escaped,
hex), and what looks like a credential is masked although nobody told us of it. Where in doubt it shows less.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

MASK: Final = "***"
_WINDOW: Final = 4096
"""Characters of a body that are looked at: enough to fill an excerpt, however large the body."""
_WIDEST: Final = 12
"""Characters that one letter of a secret may have become."""
_LAYERS: Final = 4
"""Encodings on top of each other that are undone in looking for a secret."""
_SHORTEST: Final = 4
"""Below this length only the secret itself is looked for; its encodings would be found everywhere."""

_EQUALS: Final = r"""(?:=|%(?:25)*3D|\\u003d|&\#(?:61|x3d);)"""
_CREDENTIALS: Final = re.compile(
    rf"""
    (?P<name> \b (?:proxy-)?authorization ["']? \s* [:=] \s* ["']? (?:(?!digest\b)\w+\s+)?
      | \b (?:(?:x-)?(?:api-key|functions-key|auth-token)|ocp-apim-subscription-key) ["']? \s* [:=] \s* ["']?
      | \b (?:bearer|basic) \s+ (?=\S*\d)
      | ["'] (?:api_?key|(?:\w+_)?token|secret|password|sig|signature) \\?["'] \s* : \s* \\?["']
      | (?: \b | (?<=3F) | (?<=26) )  # a query's "?" and "&", escaped
        (?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token)|(?:\w+_)?token
            |api[-_]?key|(?:subscription-)?key|account_?key|shared_?access_?(?:key|signature)
            |code|password|pwd|secret) {_EQUALS} ["']?
      | :// (?=[^/\s@]*@)
    ) (?! digest\b ) [^\s"'<>,;&@]+
    | (?P<start> \b (?: (?:set-)?cookie ["']? \s* : \s* | digest \s+ (?=\w+=) ) ["']? ) [^"'<>] [^<>]*
    | \b eyJ [\w-]+ \. [\w-]+ (?:\.[\w-]*)?  # a JWT
    | \b fluxx_ [\w-]{{43}} (?![\w-])  # a key of our own API
    """,
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_ESCAPES: Final = re.compile(r"\\(?:u00|x)([0-9a-f]{2})|\\([\"'\\/])", re.IGNORECASE)
_QUERY: Final = re.compile(
    r"""(?P<url> https?: (?:\\?/){2} [^\s"'<>?\\]* (?:\\/[^\s"'<>?\\]*)* ) (?P<mark> \? | \\u003f ) [^\s"'<>]+""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMED_SECRETS: Final = frozenset(
    {"accountkey", "sharedaccesskey", "sharedaccesssignature", "secret", "password", "pwd"}
)
"""Parts of a connection string that are secret by themselves."""
_TELLING: Final = 12
"""Characters from which a value in a query may be a signature; shorter ones are versions, dates and rights."""

_EDGE: Final = 5
"""Characters at either end of a long secret that are not looked for."""
_SHORTEST_CORE: Final = 12
"""Characters between the edges, so that no word is taken for a secret: ``application/json`` may be a signed URL's."""


def scrubbed(text: str | bytes, *, secrets: Sequence[str] = (), length: int) -> str:
    """Return ``text`` as one printable line of at most ``length`` characters without secrets."""
    known = [secret for secret in secrets if secret]
    # A secret cut by the window's edge would not be recognised: look further by the longest one's
    # longest writing, and show nothing of that far end.
    margin = _WIDEST * max(map(len, known), default=0)
    window = text[: _WINDOW + margin]
    line = _printable(window.decode(errors="replace") if isinstance(window, bytes) else window)
    line = _masked_line(line, known)
    if margin and len(text) > len(window):
        line = line[:-margin]
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def masked(text: str, *, secrets: Sequence[str] = ()) -> str:
    """Return ``text``, whole and line by line as it was, without secrets."""
    return "\n".join(_masked_line(line, secrets) for line in text.split("\n"))


def unsigned(text: str) -> str:
    """Return ``text`` with the query of each URL in it masked, whatever it is called there; else as ``masked``."""
    return masked(_QUERY.sub(rf"\g<url>\g<mark>{MASK}", text))


def secrets_of_url(url: str) -> list[str]:
    """Return what of a signed URL must not be shown: itself, and each value in it that may be a signature."""
    try:
        values = [value for _, value in parse_qsl(urlsplit(url).query) if len(value) >= _TELLING]
    except ValueError:
        values = []
    return [*values, url]


def secrets_of_setting(value: str) -> list[str]:
    """Return what of a secret setting must not be shown: itself, a URL's password, a connection string's keys."""
    parts = [part.partition("=") for part in value.split(";")]
    found = [secret for name, _, secret in parts if name.strip().lower() in _NAMED_SECRETS]
    try:
        password = urlsplit(value).password
    except ValueError:
        password = None
    if password:
        found += [password, unquote(password)]
    return [secret for secret in (*found, value) if len(secret) >= _SHORTEST]


def _masked_line(line: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        line = _without(secret, line) if secret else line
    return _CREDENTIALS.sub(_keeping_the_name, line)


def _keeping_the_name(found: re.Match[str]) -> str:
    return (found["name"] or found["start"] or "") + MASK


def _printable(text: str) -> str:
    if not text.isprintable():
        # They go before the search: they could stand between a secret's letters.
        text = "".join(char for char in text if char.isprintable() or char.isspace())
    return " ".join(text.split())


def _without(secret: str, line: str) -> str:
    """Mask ``secret`` in ``line``: itself where plain, else the word, else the line that hides it."""
    if line.isascii() and len(line) < len("".join(secret).replace(" ", "")):
        return line  # no writing of a secret is shorter than itself, and undoing escapes makes nothing longer
    forms = _forms(secret)
    if not _hides(forms, line):
        return line
    line = re.sub(re.escape("".join(secret)), MASK, line, flags=re.IGNORECASE)
    if not _hides(forms, line):
        return line
    line = " ".join(MASK if _hides(forms, word) else word for word in line.split(" "))
    return MASK if _hides(forms, line) else line


def _hides(forms: Sequence[str], text: str) -> bool:
    return any(form in reading for reading in _readings(text) for form in forms)


def _readings(text: str) -> Iterator[str]:
    """Yield ``text`` as it is (without blanks and case), and with its escapes undone, layer by layer, in every order.

    A kind undone too early takes letters of what another would bring to light: a secret may look like an escape.
    """
    layer = [text.replace(" ", "")]
    seen = set(layer)
    yield layer[0].casefold()
    for _ in range(_LAYERS):
        plainer = {undone(one): None for one in layer for undone in (_unescaped, _unquoted, unescape)}
        layer = [one for one in plainer if one not in seen]
        seen.update(layer)
        yield from map(str.casefold, layer)


def _unescaped(text: str) -> str:
    return _ESCAPES.sub(_char, text)


def _unquoted(text: str) -> str:
    return unquote(text, errors="replace")


def _char(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else escape[2]


def _forms(secret: str) -> list[str]:
    """Return what to look for: the secret, its hex, and the inner part of its base64 at each alignment."""
    plain = secret.encode(errors="replace")
    forms = ["".join(secret).replace(" ", "")]
    if len(secret) < _SHORTEST:
        return [forms[0].casefold()]
    if len(forms[0]) >= _SHORTEST_CORE + 2 * _EDGE:
        forms = [forms[0][_EDGE:-_EDGE]]  # an escape that was begun before it may end with its first letters
    forms.append(plain.hex())
    for shift in range(3):
        # Characters that hold bits of the neighbours differ from text to text; those between don't.
        first, last = -(-shift * 8 // 6), (shift + len(plain)) * 8 // 6
        core = base64.b64encode(bytes(shift) + plain).decode()[first:last]
        forms += (core, core.replace("+", "-").replace("/", "_"))
    return [form.casefold() for form in forms]
