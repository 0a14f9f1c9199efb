"""Every way in which a secret may be written, and whether it can still be read in a text."""

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus


def percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


def unicode_escaped(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def b64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


WRITINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper case": str.upper,
    "quoted": lambda text: quote(text, safe=""),
    "quoted for a path": quote,
    "quoted for a form": quote_plus,
    "quoted, lower case": percent,
    "quoted twice": lambda text: quote(quote(text, safe=""), safe=""),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON, not ASCII": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON, slashes escaped": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON, every character": unicode_escaped,
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "HTML": html.escape,
    "HTML, every character": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "HTML, every character, hex": lambda text: "".join(f"&#x{ord(char):X};" for char in text),
    "base64": b64,
    "base64url": b64url,
    "base64 behind one byte": lambda text: b64("x" + text),
    "base64 behind two bytes": lambda text: b64("xy" + text),
    "base64 among others": lambda text: b64("user:" + text + "@host"),
    "base64 as in Basic": lambda text: b64("a:" + text),
    "base64, quoted": lambda text: quote(b64(text), safe=""),
    "base64, wrapped": lambda text: "\n".join(b64(text)[at : at + 8] for at in range(0, 99, 8)),
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "spaced": " ".join,
    "NUL between": "\0".join,
    "soft hyphens between": "\u00ad".join,
}


def reveals(shown: str, written: str) -> bool:
    """Whether half of the written secret can still be read."""
    pieces = [written[at : at + len(written) // 2] for at in range(len(written) // 2)]
    squeezed = shown.replace(" ", "")
    return any(piece in shown or piece.replace(" ", "") in squeezed for piece in pieces if piece.strip())
