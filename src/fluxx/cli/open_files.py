"""How many files and connections the process may have open: as many as the system lets it ask for."""

from contextlib import suppress
from typing import Final

ENOUGH: Final = 65_536
"""More than any ``MAX_CONCURRENCY`` that one core can carry needs."""


def allow_more_open_files() -> None:
    """Raise the soft limit, which is often 1,024: a job in the air can hold a connection and a file.

    Does nothing where there is no such limit (Windows), or where the system doesn't let us.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
