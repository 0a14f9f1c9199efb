"""What a machine may run out of."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


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
    lowest_free = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest_free)
    with open_files_limited_to(lowest_free):
        yield
