"""``fluxx`` as a process of its own: started, killed without mercy, started again."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

START_BOUND = 120.0
"""Seconds: a loaded machine takes its time to start an interpreter."""


class FluxxProcess:
    """One ``fluxx …`` process over ``home``; its log is kept for when a test fails.

    ``name`` tells it from others over the same home.
    """

    def __init__(
        self, *command: str, home: Path, environment: Mapping[str, str] | None = None, name: str | None = None
    ) -> None:
        self.url = ""
        self._command = command
        self._environment = {
            **os.environ,
            "FLUXX_HOME": str(home),
            "EGRESS_ALLOWED_NETWORKS": "127.0.0.0/8",
            "LOG_FORMAT": "json",
            **(environment or {}),
        }
        self._log = home.parent / f"{name or home.name}.log"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it and wait until it is ready."""
        began = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "fluxx", *self._command, env=self._environment, stdout=log, stderr=log
            )
        async with asyncio.timeout(START_BOUND):
            while not (ready := re.search(r'"url": ?"([^"]*)",.*Ready at|Ready at ([^" ]*)', self._text(began))):
                assert self._process.returncode is None, self._text(began)
                await asyncio.sleep(0.05)
        self.url = ready[1] or ready[2]

    def _text(self, began: int = 0) -> str:
        return self._log.read_bytes()[began:].decode(errors="replace")

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process
        return self._process.pid

    async def kill(self) -> None:
        """End it as a power cut would."""
        assert self._process
        self._process.kill()
        await self._process.wait()

    async def freeze(self, seconds: float) -> None:
        """Stop it in its tracks for so long, as a machine does that swaps or is moved."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)

    def told(self, fact: str) -> int:
        """Return how often a fact stands in its log."""
        return len(re.findall(f'"fact": ?"{fact}"', self._text()))

    async def stop(self) -> int:
        """Ask it to drain; return its exit status."""
        assert self._process
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(START_BOUND):
            return await self._process.wait()

    def client(self) -> httpx.AsyncClient:
        """Return an HTTP client for its API."""
        return httpx.AsyncClient(base_url=self.url, timeout=START_BOUND)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process and self._process.returncode is None:
            await self.kill()


async def finished(http: httpx.AsyncClient, file_id: str, *, count: int) -> list[dict[str, Any]]:
    """Return the file's jobs once ``count`` of them are final."""
    async with asyncio.timeout(START_BOUND):
        while True:
            jobs: list[dict[str, Any]] = (await http.get(f"/extractor/job/file/{file_id}")).json()["items"]
            if len([job for job in jobs if job["completedAt"]]) == count:
                return jobs
            await asyncio.sleep(0.1)
