"""Azurite, Microsoft's own blob server, installed by npm as the lock file says and run as a child.

Nothing is written but ``node_modules`` beside this file: blobs are kept in memory.
By hand: ``PYTHONPATH=tests python -m servers.azurite.server`` prints the setting to export.
"""

import ctypes
import fcntl
import hashlib
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).parent
PROGRAM: Final = FOLDER / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
INSTALLED: Final = FOLDER / "node_modules" / ".installed"
INSTALL_SECONDS: Final = 300.0
START_SECONDS: Final = 30.0
LISTENING: Final = "successfully listens on "
PR_SET_PDEATHSIG: Final = 1
ACCOUNT: Final = "devstoreaccount1"
# The development account's key: Microsoft's documentation tells it to everybody.
KEY: Final = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class NodeMissing(Exception):
    """Azurite can't be run here: there is no Node.js with npm."""


class Certificate(NamedTuple):
    """Files for HTTPS, without which Azurite takes no identity's tokens."""

    chain: Path
    key: Path


class Azurite:
    """A running blob server, at ``url`` and with ``connection_string`` for the development account."""

    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self.process = process
        self.url = f"{url}/{ACCOUNT}"

    @property
    def connection_string(self) -> str:
        """The setting STORAGE_CONNECTION_STRING."""
        return connection_string(self.url)


def connection_string(url: str) -> str:
    """Return the connection string of the development account reached at ``url``."""
    scheme = url.partition(":")[0]
    return f"DefaultEndpointsProtocol={scheme};AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={url};"


@contextmanager
def running_azurite(certificate: Certificate | None = None) -> Iterator[Azurite]:
    """Run Azurite; with a certificate over HTTPS, taking tokens. Raises ``NodeMissing``."""
    install()
    options = ["--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence"]
    options += ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    if certificate is not None:
        options += ["--oauth", "basic", "--cert", str(certificate.chain), "--key", str(certificate.key)]
    process = subprocess.Popen(
        ["node", str(PROGRAM), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_dying_with_parent(),  # noqa: PLW1509 - one system call, prepared before the fork
    )
    try:
        yield Azurite(process, _listening_at(process))
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def install() -> None:
    """Install what the lock file names, once; at the same time in one process only."""
    if not (shutil.which("node") and shutil.which("npm")):
        raise NodeMissing("Azurite needs Node.js 20 or later, with npm; install them to run these tests")
    wanted = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()
    with (FOLDER / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not INSTALLED.exists() or INSTALLED.read_text() != wanted:
            command = ["npm", "ci", "--ignore-scripts", "--loglevel", "error"]
            subprocess.run(command, cwd=FOLDER, check=True, timeout=INSTALL_SECONDS)
            INSTALLED.write_text(wanted)


def _listening_at(process: "subprocess.Popen[str]") -> str:
    """Return the URL that Azurite says it listens on; its later words are read and dropped."""
    found: list[str] = []
    said: list[str] = []
    ready = threading.Event()
    threading.Thread(target=_read, args=(process, found, said, ready), daemon=True).start()
    if not ready.wait(START_SECONDS) or not found:
        process.kill()
        raise RuntimeError(f"Azurite didn't start: {''.join(said)}")
    return found[0]


def _read(process: "subprocess.Popen[str]", found: list[str], said: list[str], ready: threading.Event) -> None:
    for line in process.stdout or ():
        if LISTENING in line:
            found.append(line.partition(LISTENING)[2].strip())
            ready.set()
        elif not found:
            said.append(line)
    ready.set()


def _dying_with_parent() -> Any:
    """Return what lets the kernel end the server should the tests be killed (Linux only)."""
    return partial(ctypes.CDLL(None).prctl, PR_SET_PDEATHSIG, signal.SIGTERM) if sys.platform == "linux" else None


if __name__ == "__main__":
    with running_azurite() as azurite:
        print(f"export STORAGE_CONNECTION_STRING='{azurite.connection_string}'", flush=True)  # noqa: T201
        azurite.process.wait()
