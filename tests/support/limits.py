"""What a machine may run out of."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

STANDARD_STREAMS: Final = 3


@contextmanager
def open_files_limited_to(number: int) -> Iterator[None]:
    """Let this process, and those that it starts, open no more than so many files for a while (the soft limit)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def nothing_can_be_opened() -> Iterator[None]:
    """Let this process open no file and no connection for a while: it has as many as it may."""
    with open_files_limited_to(STANDARD_STREAMS):  # whatever is closed meanwhile, its number is above
        yield
