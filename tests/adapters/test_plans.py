"""Statements that are run all the time walk along the index that the comment beside them names.

On a history of some length, so that the planners have something to choose from; ``bench/growth.py``
measures the same calls with millions of rows.
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from support.databases import Databases
from support.growing import CALLS, PAGE, Call, Place, grown, nothing
from support.plans import explained

SIZES = [("sqlite", 20_000), ("postgresql", 5_000), ("postgresql", 20_000)]
"""Databases and finished jobs: of some thousand, PostgreSQL would rather read all."""
BY_FILE = "UQ_Job_FileId_ClientApplicationExtractorID_IdempotencyKey"
BY_CLIENT = "IX_Job_ClientApplicationId_CreatedAt"
BY_EXTRACTOR = "IX_Job_ClientApplicationExtractorID_CreatedAt"
LINES = "IX_JobStatus_JobID"
IN_A_QUEUE = "IX_BusMessage_Topic_Subscription"
SMALL = {"due", "ClientApplication", "ClientApplicationExtractor", "Rollup", "WaitingFile"}
"""What may be read from end to end."""
IN_ORDER = {"BusMessage"}
"""What SQLite reads along its own numbers, as far as the limit: no index says so."""


async def _purge(place: Place, _: Any) -> None:
    retention, before = place.world.retention, place.world.clock.now() - timedelta(days=290)
    outdated = await retention.outdated_jobs(before, limit=PAGE)
    await retention.forget_jobs(outdated.job_ids)
    await retention.forget_files(list(await retention.jobless_files(outdated.file_ids)))


ALL_CALLS = CALLS | {"purge": Call(_purge, nothing)}
INDEXES = {
    "claim": {"IX_Job_DueAt"},
    "claim without some extractors": {"IX_Job_DueAt"},
    "accept": {BY_FILE},
    "apply": set(),
    "renew and release": set(),
    "relay": {"IX_Outbox_Unpublished"},
    "receive nothing": {IN_A_QUEUE},
    "browse the log": {IN_A_QUEUE},
    "what waits the longest": {"IX_WaitingFile_Since", "IX_Job_DueAt", "IX_Outbox_Unpublished"},
    "job by id": {LINES},
    "jobs by file": {BY_FILE, LINES},
    "an old job by id": {LINES},
    "jobs by an old file": {BY_FILE, LINES},
    "newest first": {"IX_Job_CreatedAt", LINES},
    "newest first, a later page": {"IX_Job_CreatedAt", LINES},
    "of a client application": {BY_CLIENT, LINES},
    "of a client application, a later page": {BY_CLIENT, LINES},
    "of an extractor": {BY_EXTRACTOR, LINES},
    "failed": {"IX_Job_Failed", LINES},
    "failed of a client application": {"IX_Job_Failed_ClientApplicationId"},
    "succeeded": {"IX_Job_CreatedAt", LINES},
    "queued": {"IX_Job_DueAt", LINES},
    "queued, a later page": {"IX_Job_DueAt"},
    "started": {"IX_Job_DueAt"},
    "started of a client application": {"IX_Job_DueAt"},
    "purge nothing": {"IX_Job_CreatedAt", "IX_File_CreatedAt", BY_FILE},
    "purge": {"IX_Job_CreatedAt", "IX_Outbox_JobID", LINES, BY_FILE},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=SIZES, ids=lambda size: f"{size[0]}-{size[1]}")
async def place(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Place]:
    dialect, jobs = request.param
    with databases.of(dialect, tmp_path_factory.mktemp("plans")) as url:
        async with grown(url, jobs) as place:
            yield place


@pytest.mark.parametrize("name", ALL_CALLS)
@pytest.mark.asyncio(loop_scope="module")
async def test_statements_walk_along_their_indexes(place: Place, name: str) -> None:
    call = ALL_CALLS[name]
    prepared = await call.prepare(place)
    with explained(place.world.engine) as plans:
        await call.act(place, prepared)
    assert plans.of
    assert plans.read_through - IN_ORDER <= SMALL, plans.all
    assert {index for index in INDEXES[name] if index not in plans.all} == set(), plans.all
