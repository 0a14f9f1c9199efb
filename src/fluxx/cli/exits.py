"""How a command ends: one line on stderr and one exit status for each kind of error.

    0    done
    1    it made sense, but it did not work: a state forbids it, a service is away, a job failed
    2    it makes no sense: a setting, an argument, a port in use, a thing that doesn't exist
    130  interrupted (Ctrl-C)

``main`` asks ``ending``; anything it doesn't know is a bug, and its traceback is printed (``confess``).
"""

import errno
import os
import sys
import traceback
from typing import Final

import typer

from fluxx.cli.output import printable
from fluxx.errors import BadInput, FluxxError, Misconfigured, NotFound

FAILED: Final = 1
SENSELESS: Final = 2
INTERRUPTED: Final = 130

STATUS: Final[dict[type[Exception], int]] = {
    Misconfigured: SENSELESS,
    BadInput: SENSELESS,
    NotFound: SENSELESS,
    FluxxError: FAILED,
    FileNotFoundError: SENSELESS,
    FileExistsError: SENSELESS,
    IsADirectoryError: SENSELESS,
    NotADirectoryError: SENSELESS,
    PermissionError: SENSELESS,
    OSError: FAILED,
}
"""The exit status of each kind of error; the nearest class counts."""

SENSELESS_ERRNOS: Final = frozenset({errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.ENAMETOOLONG, errno.EROFS})
"""Errors of the operating system without a class of their own that a better argument would mend."""


def ending(error: Exception) -> tuple[str, int] | None:
    """Return the line to say and the exit status, or None for an error that nobody foresaw."""
    if isinstance(error, typer.Abort):
        return "interrupted", INTERRUPTED
    if isinstance(error, typer.TyperException):
        return _usage(error), error.exit_code
    kind = next((kind for kind in type(error).__mro__ if kind in STATUS), None)
    if kind is None:
        return None
    if isinstance(error, OSError):
        return _system(error), SENSELESS if error.errno in SENSELESS_ERRNOS else STATUS[kind]
    return str(error), STATUS[kind]


def say(line: str) -> None:
    """Print an error as exactly one line on stderr, whatever it holds."""
    from fluxx.scrubbing import masked

    sys.stderr.write(f"fluxx: {printable(' '.join(masked(line).split()))}\n")


def confess(error: Exception) -> None:
    """Print the traceback of an error that nobody foresaw, without what looks like a secret in it."""
    from fluxx.scrubbing import masked

    sys.stderr.write(masked("".join(traceback.format_exception(error))))


def silence_stdout() -> None:
    """Let nothing more be written to a pipe that nobody reads, not even at the interpreter's end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: typer.TyperException) -> str:
    command = getattr(getattr(error, "ctx", None), "command_path", "fluxx")
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    return f"{message}. Try '{command} --help'."


def _system(error: OSError) -> str:
    what = error.strerror or str(error)
    return f"{error.filename}: {what}" if error.filename else what
