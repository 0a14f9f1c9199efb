"""What a machine may run out of."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_can_be_opened() -> Iterator[None]:
    """Let this process open no file and no connection for a while: it has as many as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
