"""How many files a service may have open."""

import resource

from fluxx.cli.open_files import ENOUGH
from support.commands import Shell
from support.limits import open_files_limited_to


def test_a_service_may_open_as_many_files_as_the_system_allows_it(shell: Shell) -> None:
    """A job in the air holds a connection and a file, and the usual 1,024 are no more than that for 512 jobs."""
    with open_files_limited_to(200), shell.serving("up", "--port", 0, until="Ready at http://") as up:
        soft, hard = resource.prlimit(up.pid, resource.RLIMIT_NOFILE)
        assert soft == (ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH))
