"""How many files a service may have open."""

import subprocess
import sys

SCRIPT = """
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from fluxx.cli.open_files import allow_more_open_files

setrlimit(RLIMIT_NOFILE, (100, 500))
for _ in range(2):
    allow_more_open_files()
    assert getrlimit(RLIMIT_NOFILE) == (500, 500), getrlimit(RLIMIT_NOFILE)
"""


def test_a_service_may_open_as_many_files_as_the_system_allows_it() -> None:
    """A job in the air holds a connection; the usual 1,024 are fewer than ``MAX_CONCURRENCY`` and the rest together."""
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)
