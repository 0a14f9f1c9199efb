"""Where an API key comes from: a file, stdin or a hidden prompt; never an argument, which ``ps`` would show."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fluxx.ports.secrets import ApiKey

KeyFile = Annotated[
    Path | None, typer.Option("--key-file", metavar="FILE", help="File that holds the API key; - reads stdin.")
]


def read_key(key_file: Path | None) -> "ApiKey":
    """Return the key in ``key_file``, or from stdin, or typed at a prompt; line ends around it don't count."""
    from fluxx.errors import BadInput
    from fluxx.ports.secrets import ApiKey

    try:
        key = _text(key_file).strip()
    except UnicodeDecodeError:
        raise BadInput("the API key is not text", field="apiKey", malformed=True) from None
    if not key:
        raise BadInput("the API key is empty", field="apiKey")
    return ApiKey(key)


def _text(key_file: Path | None) -> str:
    if key_file is not None and str(key_file) != "-":
        return key_file.read_text(encoding="utf-8")
    if key_file is None and sys.stdin.isatty():
        return str(typer.prompt("API key", hide_input=True, err=True))
    return sys.stdin.buffer.read().decode("utf-8")
