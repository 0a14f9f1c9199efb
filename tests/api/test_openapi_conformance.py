"""Whatever the OpenAPI document allows (and what it doesn't) is answered as it says, and never with a 5xx."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from schemathesis import Case
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from fluxx.api.access.callers import Role
from fluxx.model.outcome import Refused, Submitted
from support.access import known, setting
from support.placed_jobs import placed_job
from support.service import house

CALLER = known(Role.ADMIN)
WITHOUT_END = "/extractor/jobs/events"
"""Answered for ever: its own tests read as much of it as they need."""


class Background:
    """A service on a thread of its own, with one of everything in it."""

    def __init__(self, home: Any) -> None:
        self._home = home
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self.url = ""
        self.ids: dict[str, str] = {}

    def start(self) -> None:
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._thread.start()
        assert self._ready.wait(30)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(30)

    async def _run(self) -> None:
        self._over = asyncio.Event()
        roles = frozenset({"registration", "files", "jobs"})
        async with house(self._home, roles=roles, api_keys=setting(CALLER), rate_limit_per_second=100_000) as fluxx:
            client = await fluxx.client_application()
            extractor = await fluxx.extractor(client, "https://ocr.example.com/")
            fluxx.http.headers.update(CALLER.headers)
            file_id = await fluxx.upload(client)
            job = await placed_job(fluxx.world, file_id, extractor, [Submitted("Taken."), Refused("No.")])
            self.ids = {
                "clientAppId": str(client),
                "clientApplicationId": str(client),
                "extractorId": str(extractor.client_application_extractor_id),
                "fileId": str(file_id),
                "jobId": str(job.job_id),
            }
            self.url = str(fluxx.service.url)
            self._ready.set()
            await self._over.wait()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    background = Background(tmp_path_factory.mktemp("home"))
    background.start()
    yield background
    background.end()


DOCUMENTS = Path(__file__).parents[2] / "docs" / "openapi"
registration = schemathesis.openapi.from_path(DOCUMENTS / "registration.json")
files = schemathesis.openapi.from_path(DOCUMENTS / "files.json").exclude(tag="health")
jobs = schemathesis.openapi.from_path(DOCUMENTS / "jobs.json").exclude(tag="health").exclude(path=WITHOUT_END)
for document in (registration, files, jobs):
    # Every request shows a good key; that others are refused is one of the checks.
    document.config.generation.update(with_security_parameters=False)
bounded = settings(max_examples=8, deadline=None)

BEYOND_SCHEMAS = [positive_data_acceptance]
"""What JSON Schema can't say makes valid data refused: where a URL leads, whether a cursor is one of ours."""

WITHOUT_TYPES = "multipart/form-data"
"""A form's fields are bytes: a number that stands for a file arrives as the file that holds its digits."""


def check(case: Case, service: Background) -> None:
    """Send the case as it was made, and again about things that exist; without a key too, as described."""
    beyond = [*BEYOND_SCHEMAS, negative_data_rejection] if case.media_type == WITHOUT_TYPES else BEYOND_SCHEMAS
    options = {"base_url": service.url, "headers": CALLER.headers, "excluded_checks": beyond}
    case.call_and_validate(**options)
    for given in (case.path_parameters, case.query):
        given.update({name: its_id for name, its_id in service.ids.items() if name in given})
    case.call_and_validate(**options)


@registration.parametrize()
@bounded
def test_registration_conforms(case: Case, service: Background) -> None:
    check(case, service)


@files.parametrize()
@bounded
def test_files_conform(case: Case, service: Background) -> None:
    check(case, service)


@jobs.parametrize()
@bounded
def test_jobs_conform(case: Case, service: Background) -> None:
    check(case, service)
