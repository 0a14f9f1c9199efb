"""One trace goes from the upload to the event, over every wire in between; and none is made where none is wanted."""

import asyncio
import json
from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest

from fluxx import settings as settings_module
from fluxx import wiring
from fluxx.telemetry import Facts, logger
from fluxx.tracing import NoTracing
from support.collector import collecting
from support.scripted import ScriptedExtractor
from support.service import house

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
CHILD_OF = {
    "announce": "upload",
    "accept": "announce",
    "submit": "accept",
    "poll": "accept",
    "store result": "poll",
    "publish event": "accept",
}
SPANS = {"upload": 1, "announce": 1, "accept": 1, "submit": 1, "poll": 3, "store result": 1, "publish event": 3}


@pytest.mark.parametrize("headers", [{}, {"traceparent": PARENT}], ids=["a new trace", "a caller's trace"])
async def test_one_trace_from_upload_to_event(tmp_path: Path, headers: dict[str, str]) -> None:
    log = StringIO()
    async with collecting() as collector, ScriptedExtractor(not_ready=2) as extractor:
        settings = settings_module.load(fluxx_home=tmp_path, otel_exporter_otlp_endpoint=collector.url)
        facts = Facts(logger(log_format="json", level=20, stream=log), level=20, tracing=wiring.tracing(settings))
        async with house(tmp_path, facts=facts) as fluxx:
            client = await fluxx.client_application()
            await fluxx.extractor(client, extractor.extraction_url)
            fluxx.http.headers.update(headers)
            file_id = await fluxx.upload(client)
            [job] = await fluxx.finished(file_id)
            events = await fluxx.events(3, job_id=job["jobId"])
            await collector.wait_for(lambda: len(collector.spans) == sum(SPANS.values()))
    [trace_id] = {span.trace_id for span in collector.spans}
    assert not headers or trace_id == TRACE
    by_id = {span.span_id: span for span in collector.spans}
    names = [span.name for span in collector.spans]
    assert {name: names.count(name) for name in names} == SPANS
    assert {span.name: by_id[span.parent].name for span in collector.spans if span.parent in by_id} == CHILD_OF
    # Over the wire to the extractor: each call below its own span.
    for request in extractor.requests:
        _, trace, parent, _ = request.headers["traceparent"].split("-")
        assert (trace, by_id[parent].name) == (trace_id, "submit" if request.method == "POST" else "poll")
    assert {(event.traceparent or "").split("-")[1] for event in events} == {trace_id}
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    told = {line["fact"]: line.get("trace_id") for line in lines if line["fact"].startswith(("job_", "file_"))}
    assert told == dict.fromkeys(("file_uploaded", "file_accepted", "job_started", "job_succeeded"), trace_id)


async def test_without_a_collector_a_trace_passes_through_and_none_begins(tmp_path: Path) -> None:
    assert isinstance(wiring.tracing(settings_module.load(fluxx_home=tmp_path)), NoTracing)
    async with house(tmp_path) as fluxx, ScriptedExtractor() as extractor:
        client = await fluxx.client_application()
        await fluxx.extractor(client, extractor.extraction_url)
        plain = await fluxx.upload(client)
        fluxx.http.headers["traceparent"] = PARENT
        traced = await fluxx.upload(client)
        for file_id, trace in ((plain, None), (traced, PARENT)):
            [job] = await fluxx.finished(file_id)
            calls = [request for request in extractor.requests if request.job_id == UUID(job["jobId"])]
            assert {request.headers.get("traceparent") for request in calls} == {trace}
            events = await fluxx.events(3, job_id=job["jobId"])
            assert {event.traceparent for event in events} == {trace}


async def test_spans_that_overlap_keep_their_own_trace() -> None:
    facts = Facts()
    seen: dict[str, list[str | None]] = {}

    async def work(parent: str) -> None:
        with facts.span("outer", parent=parent):
            for _ in range(3):
                await asyncio.sleep(0)
                with facts.span("inner") as inner:
                    seen.setdefault(parent, []).append(inner.traceparent)

    parents = [f"00-{number:032x}-00f067aa0ba902b7-01" for number in range(1, 4)]
    await asyncio.gather(*map(work, parents))
    assert seen == {parent: [parent] * 3 for parent in parents}
