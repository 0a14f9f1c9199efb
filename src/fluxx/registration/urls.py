"""What an extractor's registered URL may look like (stories 2, 3 and 8), before any look at networks."""

import re
from typing import Final
from urllib.parse import urlsplit

from fluxx.errors import BadInput

LONGEST_URL: Final = 500
"""Characters: ``VARCHAR(500)`` (story 3)."""

_VISIBLE_ASCII: Final = re.compile(r"[!-~]*")
_SCHEMES: Final = ("http", "https")


def checked_url(url: str, *, field: str) -> str:
    """Return ``url`` as it is; raise ``BadInput`` naming ``field`` where it can't be called as it stands.

    It is absolute, http or https, of visible ASCII (the column is VARCHAR), without user info (a
    secret would end up in the database and in logs) and without a fragment (the job id goes behind it).
    """
    complaint = _complaint(url)
    if complaint:
        raise BadInput(f"{field} {complaint}.", field=field)
    return url


def _complaint(url: str) -> str | None:
    if len(url) > LONGEST_URL:
        return f"has more than {LONGEST_URL} characters"
    if not _VISIBLE_ASCII.fullmatch(url):
        return "must be visible ASCII: percent-encode the path, write the host in punycode"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    complaints = {
        "must begin with http:// or https://": parts.scheme not in _SCHEMES,
        "names no host": not parts.hostname,
        "must not hold a user name or password; give the key as apiKey": "@" in parts.netloc,
        "must not have a fragment (#…)": "#" in url,
        "names port 0": port == 0,
    }
    return next((words for words, holds in complaints.items() if holds), None)
