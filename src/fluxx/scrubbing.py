"""Text without secrets: for status messages, logs, dead letters and whatever else is shown. Pure.

Known secrets are masked however they are written (plain, URL-encoded, base64 at any alignment, JSON- or HTML-escaped,
hex), and what looks like a credential is masked although nobody told us of it. Where in doubt it shows less.

What a text costs is bounded, for others write it and the event loop waits: the work grows with the characters of a
line and no faster, and the line of an excerpt is short however long the text and the secrets are.
"""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from fluxx.hidden_secrets import LONG, SHORTEST, WIDEST, Search, Writings

MASK: Final = "***"
_WINDOW: Final = 4096
"""Characters of a text of which its line is made."""
_SPARE: Final = 2
"""Times the length to be shown that is looked at: masks are shorter than what they mask."""
_MARGIN: Final = WIDEST * LONG
"""Characters that are looked at beyond that, and not shown: a secret cut there would not be recognised."""
_MOST_SECRETS: Final = 32
"""Of a text with more of them nothing is shown: two signed URLs and two keys make about twenty."""

_EQUALS: Final = r"""(?:=|%(?:25)*3D|\\u003d|&\#(?:61|x3d);)"""
_CREDENTIALS: Final = re.compile(
    rf"""
    (?P<name> \b (?:proxy-)?authorization ["']? \s* [:=] \s* ["']? (?:(?!digest\b)\w+\s+)?
      | \b (?:(?:x-)?(?:api-key|functions-key|auth-token)|ocp-apim-subscription-key) ["']? \s* [:=] \s* ["']?
      | \b (?:bearer|basic) \s+ (?=\S*\d)
      | ["'] (?:api_?key|(?:\w+_)?token|secret|password|sig|signature) \\?["'] \s* : \s* \\?["']
      | (?: \b | (?<=3F) | (?<=26) )  # a query's "?" and "&", escaped
        (?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token)|token
            |api[-_]?key|(?:subscription-)?key|account_?key|shared_?access_?(?:key|signature)
            |code|password|pwd|secret) {_EQUALS} ["']?
      | (?<=_) token {_EQUALS} ["']?
      | :// (?=[^/\s@]*@)
    ) (?! digest\b ) [^\s"'<>,;&@]+
    | (?P<start> \b (?: (?:set-)?cookie ["']? \s* : \s* | digest \s+ (?=\w+=) ) ["']? ) [^"'<>] [^<>]*
    | (?<![\w-]) (?P<before> (?:[\w-]*?-)?? ) eyJ (?: [\w-]++ \. [\w-]+ (?:\.[\w-]*)? | [\w-]{{300,}} )  # a JWT
    | \b fluxx_ [\w-]{{43}} (?![\w-])  # a key of our own API
    """,
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_QUERY: Final = re.compile(
    r"""
    (?P<url> https?: (?:\\?/){2} [^\s"'<>?\\]* (?:\\/[^\s"'<>?\\]*)* (?P<mark> \? | \\u003f )? )
    (?(mark) [^\s"'<>]+ )  # a URL without a query is taken, too: it would be looked through again for each one in it
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NAMED_SECRETS: Final = frozenset(
    {"accountkey", "sharedaccesskey", "sharedaccesssignature", "secret", "password", "pwd"}
)
"""Parts of a connection string that are secret by themselves."""
_TELLING: Final = 12
"""Characters from which a value in a query may be a signature; shorter ones are versions, dates and rights."""


def scrubbed(text: str | bytes, *, secrets: Sequence[str] = (), length: int) -> str:
    """Return ``text`` as one printable line of at most ``length`` characters without secrets."""
    window = text[:_WINDOW]
    line = _printable(window.decode(errors="replace") if isinstance(window, bytes) else window)
    known = _known(secrets)
    if len(known) > _MOST_SECRETS:
        return line and MASK
    near = line[: _SPARE * length + _MARGIN]
    is_cut = len(text) > len(window) or len(line) > len(near)
    line, is_cut = _masked_line(near, known, is_cut=is_cut)
    if is_cut and line:
        line = line[:-_MARGIN] or MASK
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def masked(text: str, *, secrets: Sequence[str] = ()) -> str:
    """Return ``text``, whole and line by line as it was, without secrets."""
    known = _known(secrets)
    return "\n".join(_masked_line(line, known, is_cut=False)[0] for line in text.split("\n"))


def unsigned(text: str) -> str:
    """Return ``text`` with the query of each URL in it masked, whatever it is called there; else as ``masked``."""
    return masked(_QUERY.sub(lambda found: found["url"] + (MASK if found["mark"] else ""), text))


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
    return [secret for secret in (*found, value) if len(secret) >= SHORTEST]


def _known(secrets: Sequence[str]) -> Sequence[str]:
    return [*dict.fromkeys("".join(secret) for secret in secrets if secret)]


def _masked_line(line: str, secrets: Sequence[str], *, is_cut: bool) -> tuple[str, bool]:
    """Return the line without secrets, and whether its end may still be the beginning of one."""
    search = Search(line)
    for secret in secrets:
        line, is_cut = _without(secret, line, search, is_cut=is_cut)
    return _CREDENTIALS.sub(_keeping_the_name, line), is_cut


def _without(secret: str, line: str, search: Search, *, is_cut: bool) -> tuple[str, bool]:
    """Mask ``secret`` in ``line``: itself where plain, else the word, else the line that hides it."""
    writings = Writings(secret, line, is_cut=is_cut)
    if not search.hides(line, writings, is_cut=is_cut):
        return line, is_cut
    line, is_cut = _without_plain(secret, line, is_cut=is_cut)
    if search.hides(line, writings, is_cut=is_cut):
        *words, last = line.split(" ")
        words = [MASK if search.hides(word, writings, is_cut=False) else word for word in words]
        line = " ".join([*words, MASK if search.hides(last, writings, is_cut=is_cut) else last])
    return (MASK if search.hides(line, writings, is_cut=is_cut) else line), is_cut


def _without_plain(secret: str, line: str, *, is_cut: bool) -> tuple[str, bool]:
    lower, sought = _lower(line), _lower(secret)
    pieces, at = [], 0
    while (found := lower.find(sought, at)) >= 0:
        pieces.append(line[at:found])
        at = found + len(sought)
    begun = lower.find(sought[:LONG], at) if is_cut and len(sought) > LONG else -1
    if begun >= 0 and sought.startswith(lower[begun:]):
        return MASK.join([*pieces, line[at:begun], ""]), False
    return MASK.join([*pieces, line[at:]]), is_cut


def _lower(text: str) -> str:
    """Return ``text`` in lower case, letter by letter: this one alone would become two."""
    return text.replace("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "i").lower()


def _keeping_the_name(found: re.Match[str]) -> str:
    return (found["name"] or found["start"] or found["before"] or "") + MASK


def _printable(text: str) -> str:
    line = " ".join(text.split())
    if not line.isprintable():
        # They go before the search: they could stand between a secret's letters.
        line = " ".join("".join(filter(str.isprintable, line)).split())
    return line
