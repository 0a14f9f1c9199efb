"""The browser that tests drive: Debian's Chromium, installed where it is missing and that may be done.

By hand: ``PYTHONPATH=tests python -m support.chromium`` installs it and prints where it is.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OF_THE_SYSTEM: Final = ("apt-get", "-o", "Dpkg::Use-Pty=0", "-qq")
INSTALL_SECONDS: Final = 600.0
QUIET: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""It runs in containers, shows nothing on a screen, and calls nobody but who it is sent to."""


class ChromiumMissing(Exception):
    """There is no Chromium here, and this user can't install it."""


def chromium() -> Path:
    """Return the program, after installing it if need be; raise ``ChromiumMissing``."""
    found = _found()
    if found is not None:
        return found
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise ChromiumMissing(
            "The browser tests need Chromium: as root, apt-get install --no-install-recommends chromium"
        )
    with (Path(tempfile.gettempdir()) / "fluxx-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _found() is None:
            _install()
    found = _found()
    if found is None:
        raise ChromiumMissing("apt-get installed the package chromium, but there is no such program now.")
    return found


def _found() -> Path | None:
    return next((Path(path) for name in NAMES if (path := shutil.which(name))), None)


def _install() -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        done = subprocess.run(
            [*OF_THE_SYSTEM, *command],
            env=environment,
            timeout=INSTALL_SECONDS,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ChromiumMissing(f"apt-get {command[0]} failed: {done.stderr.strip()[-400:]}")


if __name__ == "__main__":
    print(chromium())  # noqa: T201
