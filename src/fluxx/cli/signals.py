"""SIGTERM and Ctrl-C as a polite request: the first one drains, the second one is the system's again."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENDING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def asked_to_end(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` at the first SIGTERM or SIGINT; a second one ends the process at once."""
    loop = asyncio.get_running_loop()

    def obey() -> None:
        for each in ENDING:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
        stop()

    for each in ENDING:
        loop.add_signal_handler(each, obey)
    try:
        yield
    finally:
        for each in ENDING:
            loop.remove_signal_handler(each)
