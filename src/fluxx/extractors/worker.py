"""One worker process: reads a task a line from standard input, answers with one line each.

Started by ``workers.py`` as ``python -m fluxx.extractors.worker``; ends when its input ends, so that
none outlives a server that was killed. The heavy libraries are imported here and nowhere above.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from fluxx.extractors import documents, tables, text
from fluxx.extractors.contract import CannotExtract, Failure
from fluxx.extractors.task import Done, Task

EXTRACT: Final[dict[str, Callable[[Path, str], msgspec.Struct]]] = {"text": text.extract, "tables": tables.extract}


def perform(task: Task) -> Done:
    """Extract, and leave the result as JSON at ``task.result_path``; never raises what a file can cause."""
    try:
        media_type = documents.media_type(Path(task.path), declared=task.declared_type, name=task.name)
        result = msgspec.json.encode(EXTRACT[task.kind](Path(task.path), media_type))
        Path(task.result_path).write_bytes(result)
    except CannotExtract as error:
        return Done(failure=error.failure)
    except Exception as error:  # noqa: BLE001 - libraries raise anything over a broken file, and the job must say so
        reason = f"The file could not be read: {type(error).__name__}: {error}".strip(": ")
        return Done(failure=Failure("extraction_failed", reason))
    return Done(size=len(result))


def main() -> None:
    """Work until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to handle: it ends its workers
    logging.disable()
    answers = _private_output()
    decoder = msgspec.json.Decoder(Task)
    for line in sys.stdin.buffer:
        answers.write(msgspec.json.encode(perform(decoder.decode(line))) + b"\n")
        answers.flush()


def _private_output() -> BinaryIO:
    # Whatever a library prints must not end up between the answers: it goes to standard error.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main()
