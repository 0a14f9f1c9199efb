"""The same story on the platform: PostgreSQL, Service Bus, Blob Storage and Key Vault, Microsoft's SDKs on the wire."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from azure.servicebus import ServiceBusClient
from azure.storage.blob import BlobServiceClient

from fluxx.messages import job_status
from fluxx.settings import Settings
from servers.azure_local import Exports, blobs, messages, vault_and_identity
from support.databases import Databases
from support.process import FluxxProcess, finished
from support.scripted import ScriptedExtractor

DEFAULTS = Settings.model_construct()
RESULT = b'{"total": 1.10, "id": 12345678901234567890}'
QUICK = {"EGRESS_ALLOWED_NETWORKS": "127.0.0.0/8", "POLL_INTERVAL_SECONDS": "0.2", "POLL_MAX_INTERVAL_SECONDS": "1"}


@pytest.fixture
async def platform(tmp_path: Path, databases: Databases) -> AsyncIterator[Exports]:
    """The settings of a platform that runs on this machine."""
    with ExitStack() as stack:
        url = stack.enter_context(databases.postgresql())
        exports = {"DATABASE_URL": url, **stack.enter_context(messages()), **stack.enter_context(blobs())}
        async with vault_and_identity(tmp_path) as vault:
            yield {**exports, **vault, **QUICK}


async def test_a_file_goes_through_azure_and_two_extractors(platform: Exports, tmp_path: Path) -> None:
    assert "STORAGE_CONNECTION_STRING" in platform, "Azurite needs Node.js"
    home = tmp_path / "home"
    async with (
        ScriptedExtractor(not_ready=1, result=RESULT) as extractor,
        FluxxProcess("up", "--port", "0", home=home, environment=platform) as fluxx,
        fluxx.client() as http,
    ):
        ready = await http.get("/readyz")
        assert ready.status_code == 200, ready.text
        client = (await http.post("/registration/client-applications", json={"name": "Archive"})).json()
        client_id = client["clientApplicationId"]
        for name in ("text", "tables"):
            wanted = {"name": name, "extractionUrl": extractor.extraction_url, "apiKey": "a-made-up-key"}
            added = await http.post(f"/registration/{client_id}/extractors", json=wanted)
            assert added.status_code == 201, added.text
        upload = {"file": ("invoice.pdf", b"%PDF made up", "application/pdf")}
        uploaded = await http.post("/files", params={"clientApplicationId": client_id}, files=upload)
        assert uploaded.status_code == 202, uploaded.text
        file_id = uploaded.json()["fileId"]
        jobs = await finished(http, file_id, count=2)

        assert [job["status"] for job in jobs] == ["Succeeded", "Succeeded"], jobs
        assert {one.headers["Authorization"] for one in extractor.requests} == {"Bearer a-made-up-key"}
        url = extractor.submissions()[0].json["fileUrl"]
        async with fluxx.client() as anyone:
            assert (await anyone.get(url)).content == b"%PDF made up"
            assert (await anyone.put(url, content=b"x", headers={"x-ms-blob-type": "BlockBlob"})).status_code == 403
        for job in jobs:
            assert await asyncio.to_thread(_blob, platform, job["resultPath"]) == RESULT
            assert (await http.get(f"/extractor/job/{job['jobId']}/result")).content == RESULT
        events = await asyncio.to_thread(_events, platform, 6)
        for job in jobs:
            mine = [event for event in events if event.subject == job["jobId"]]
            assert [event.type.rpartition(".")[2] for event in mine] == ["JobQueued", "JobStarted", "JobSucceeded"]
        assert await fluxx.stop() == 0
    assert not home.exists(), "nothing of the platform's is kept on this machine"


def _blob(platform: Exports, path: str) -> bytes:
    with BlobServiceClient.from_connection_string(platform["STORAGE_CONNECTION_STRING"]) as service:
        return service.get_blob_client(DEFAULTS.storage_container, path).download_blob().readall()


def _events(platform: Exports, count: int) -> list[job_status.Envelope]:
    """Receive ``count`` events from the topic's subscription, as a consumer would."""
    events: list[job_status.Envelope] = []
    with (
        ServiceBusClient.from_connection_string(platform["SERVICE_BUS_CONNECTION_STRING"]) as bus,
        bus.get_subscription_receiver(DEFAULTS.topic_job_status, DEFAULTS.job_status_subscription) as receiver,
    ):
        while len(events) < count:
            received = receiver.receive_messages(max_message_count=count, max_wait_time=30)
            assert received, f"only {len(events)} of {count} events came"
            for message in received:
                event = job_status.decode(b"".join(message.body))
                assert message.message_id == str(event.id)
                events.append(event)
                receiver.complete_message(message)
    return events
