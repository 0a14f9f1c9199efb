"""The answer matrix as literal expectations: judged purely (``unit``) and over the wire (``faults``).

Written down once more on purpose, and not derived from ``extraction/matrix.py``: it is what that is held to.
"""

from fluxx.extraction.answers import KeyRejected, Ready
from fluxx.model.outcome import NotReady, Refused, Retry, Submitted

HTML = b"<!doctype html><html><body>Please sign in</body></html>"
RESULT = b'{"z": 1.0,\n "a" : 123456789012345678901234567890, "e":1E+2, "u":"\\u00e9 \xc3\xa9"}'
INLINE = b'{"isReady" : true, "result": ' + RESULT + b"}"
LINKED = b'{"isReady":true,"resultUrl":"/results/7?sig=abc"}'
REPORTED = b'{"isReady":true,"error":{"code":"E17","message":"The file is encrypted"}}'
WAIT = b'{"isReady":false}'

STATUSES: list[tuple[int, type, type, type, type | None]] = [
    (200, Submitted, Retry, Retry, None),
    (201, Submitted, Retry, Retry, None),
    (202, Submitted, Retry, Retry, Retry),
    (203, Submitted, Retry, Retry, None),
    (204, Submitted, Retry, Retry, Retry),
    (205, Submitted, Retry, Retry, Retry),
    (206, Submitted, Retry, Retry, Retry),
    (300, Refused, Refused, Refused, Refused),
    (301, Refused, Refused, Refused, Refused),
    (302, Refused, Refused, Refused, Refused),
    (303, Refused, Refused, Refused, Refused),
    (304, Refused, Refused, Refused, Refused),
    (307, Refused, Refused, Refused, Refused),
    (308, Refused, Refused, Refused, Refused),
    (400, Refused, Refused, Refused, Retry),
    (401, KeyRejected, KeyRejected, KeyRejected, Retry),
    (402, Refused, Refused, Refused, Refused),
    (403, KeyRejected, KeyRejected, KeyRejected, Retry),
    (404, Refused, Retry, Refused, Retry),
    (405, Refused, Refused, Refused, Refused),
    (406, Refused, Refused, Refused, Refused),
    (408, Retry, Retry, Retry, Retry),
    (409, Submitted, Refused, Refused, Refused),
    (410, Refused, Refused, Refused, Retry),
    (413, Refused, Refused, Refused, Refused),
    (415, Refused, Refused, Refused, Refused),
    (418, Refused, Refused, Refused, Refused),
    (422, Refused, Refused, Refused, Refused),
    (425, Retry, Retry, Retry, Retry),
    (429, Retry, Retry, Retry, Retry),
    (451, Refused, Refused, Refused, Refused),
    (499, Refused, Refused, Refused, Refused),
    (500, Retry, Retry, Retry, Retry),
    (501, Retry, Retry, Retry, Retry),
    (502, Retry, Retry, Retry, Retry),
    (503, Retry, Retry, Retry, Retry),
    (504, Retry, Retry, Retry, Retry),
    (599, Retry, Retry, Retry, Retry),
    (0, Retry, Retry, Retry, Retry),
    (101, Retry, Retry, Retry, Retry),
    (600, Retry, Retry, Retry, Retry),
    (999, Retry, Retry, Retry, Retry),
]
"""Each status with an empty body: as a submission, an early poll, a late poll, a download (None: it is the result)."""

BODIES: dict[str, tuple[bytes, type, type, type]] = {
    "not ready": (WAIT, Submitted, Submitted, NotReady),
    "not ready, with a BOM": (b"\xef\xbb\xbf" + WAIT, Submitted, Submitted, NotReady),
    "not ready, with blanks": (b" \r\n\t" + WAIT + b"\n", Submitted, Submitted, NotReady),
    "not ready, unknown fields": (b'{"isReady":false,"progress":[0.5]}', Submitted, Submitted, NotReady),
    "not ready, with an error": (b'{"isReady":false,"error":{"code":"x"}}', Submitted, Submitted, NotReady),
    "inline result": (INLINE, Ready, Ready, Ready),
    "inline result, with a BOM": (b"\xef\xbb\xbf" + INLINE, Ready, Ready, Ready),
    "result URL": (LINKED, Ready, Ready, Ready),
    "reported error": (REPORTED, Refused, Refused, Refused),
    "ready with nothing": (b'{"isReady":true}', Submitted, Retry, Retry),
    "ready with nulls": (b'{"isReady":true,"result":null,"resultUrl":null}', Submitted, Retry, Retry),
    "ready with an empty URL": (b'{"isReady":true,"resultUrl":"  "}', Submitted, Retry, Retry),
    "ready with a URL that is a number": (b'{"isReady":true,"resultUrl":7}', Submitted, Retry, Retry),
    "isReady as text": (b'{"isReady":"true","result":1}', Submitted, Retry, Retry),
    "isReady as a number": (b'{"isReady":1,"result":1}', Submitted, Retry, Retry),
    "isReady null": (b'{"isReady":null}', Submitted, Submitted, Retry),
    "other case": (b'{"IsReady":true,"Result":1}', Submitted, Submitted, Retry),
    "an object without isReady": (b'{"id":"17","status":"queued"}', Submitted, Submitted, Retry),
    "an error without isReady": (b'{"error":{"code":"x","message":"y"}}', Submitted, Submitted, Retry),
    "an empty object": (b"{}", Submitted, Submitted, Retry),
    "an array": (b"[]", Submitted, Retry, Retry),
    "a string": (b'"accepted"', Submitted, Retry, Retry),
    "null": (b"null", Submitted, Retry, Retry),
    "plain text": (b"OK", Submitted, Retry, Retry),
    "HTML": (HTML, Submitted, Retry, Retry),
    "XML": (b'<?xml version="1.0"?><ok/>', Submitted, Retry, Retry),
    "empty": (b"", Submitted, Submitted, Retry),
    "blank": (b" \r\n", Submitted, Submitted, Retry),
    "a BOM and nothing else": (b"\xef\xbb\xbf", Submitted, Submitted, Retry),
    "truncated": (INLINE[:-9], Submitted, Retry, Retry),
    "truncated within a character": (INLINE.partition(b"\xa9")[0], Submitted, Retry, Retry),
    "two documents": (WAIT + WAIT, Submitted, Retry, Retry),
    "NaN": (b'{"isReady":true,"result":NaN}', Submitted, Retry, Retry),
    "Infinity": (b'{"isReady":true,"result":[-Infinity]}', Submitted, Retry, Retry),
    "single quotes": (b"{'isReady': true, 'result': 1}", Submitted, Retry, Retry),
    "trailing comma": (b'{"isReady":true,"result":[1,],}', Submitted, Retry, Retry),
    "invalid UTF-8 in the result": (b'{"isReady":true,"result":"caf\xe9"}', Submitted, Retry, Retry),
    "invalid UTF-8 elsewhere": (b'{"isReady":false,"note":"caf\xe9"}', Submitted, Retry, Retry),
    "half a surrogate pair": (b'{"isReady":true,"result":"\\ud83d"}', Submitted, Retry, Retry),
    "UTF-16 with a BOM": (WAIT.decode().encode("utf-16"), Submitted, Retry, Retry),
    "UTF-16 without a BOM": (WAIT.decode().encode("utf-16-le"), Submitted, Retry, Retry),
    "UTF-32": (WAIT.decode().encode("utf-32"), Submitted, Retry, Retry),
    "duplicate keys, the last counts": (b'{"isReady":true,"isReady":false}', Submitted, Submitted, NotReady),
    "nested too deeply": (b'{"isReady":true,"result":' + b"[" * 200_000, Refused, Refused, Refused),
}
"""Each kind of body, and what it means under a 201, under another success, and as a poll's 200."""
