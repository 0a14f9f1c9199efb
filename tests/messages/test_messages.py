"""The wire, held still by golden files: accepted-file messages in, job-status envelopes out."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid5

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.errors import Poison
from fluxx.messages import accepted_file, job_status
from fluxx.messages.accepted_file import AcceptedFile
from fluxx.model.transitions import EventType, JobEvent

GOLDEN = Path(__file__).parent
UNDERSTOOD = sorted((GOLDEN / "accepted-file" / "understood").iterdir())
POISON = sorted((GOLDEN / "accepted-file" / "poison").glob("*/*"))

FILE = UUID("0190c5a2-7c1e-7b3a-9a52-1f0e6d2c4b11")
CLIENT_APPLICATION = UUID("0190c5a2-0000-7000-8000-00000000c11e")
JOB = UUID("0190c5a2-7c20-7d41-8e0f-5b6a7c8d9e0f")
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
URL = "https://upstream.example/files/17?sp=r&sig=made%2Bup"
OPTIONAL = {
    "as-we-write-it": (URL, TRACE),
    "camel-case": (URL, TRACE),
    "cloudevents": (URL, TRACE),
}
"""The URL and trace that the fuller ones among the understood messages hold."""

RESULT = f"results/{CLIENT_APPLICATION}/{FILE}/{JOB}/result.json"
EVENTS = {
    EventType.JOB_QUEUED: (0, None, None),
    EventType.JOB_STARTED: (250, None, None),
    EventType.JOB_SUCCEEDED: (5_250_000, f"4096 bytes at {RESULT}, sha256 {'0123456789abcdef' * 4}", None),
    EventType.JOB_FAILED: (
        5_250_000,
        None,
        'The extractor refused the file: HTTP 415 Unsupported Media Type: {"détail":"no \\"tiff\\""}.',
    ),
}
"""Microseconds after noon, result summary and error message of each golden event."""


def event(of: EventType, *, trace: str | None = TRACE) -> JobEvent:
    microseconds, summary, error = EVENTS[of]
    return JobEvent(
        event_id=uuid5(JOB, of),
        type=of,
        job_id=JOB,
        file_id=FILE,
        client_application_extractor_id=UUID("0190c5a2-1111-7111-8111-0000000e97ac"),
        timestamp=datetime(2026, 3, 1, 12, 0, microseconds // 1_000_000, microseconds % 1_000_000, tzinfo=UTC),
        result_summary=summary,
        error_message=error,
        trace_context=trace,
    )


@pytest.mark.parametrize("path", UNDERSTOOD, ids=lambda path: path.stem)
def test_an_accepted_file_message_is_understood(path: Path) -> None:
    url, trace = OPTIONAL.get(path.stem, (None, None))
    assert accepted_file.decode(path.read_bytes()) == AcceptedFile(
        file_id=FILE, client_application_id=CLIENT_APPLICATION, file_url=url, trace_context=trace
    )


@pytest.mark.parametrize("path", POISON, ids=lambda path: path.stem)
def test_poison_is_told_with_its_reason(path: Path) -> None:
    with pytest.raises(Poison) as poison:
        accepted_file.decode(path.read_bytes())
    assert poison.value.reason == path.parent.name
    assert str(poison.value).isprintable()
    assert len(str(poison.value)) < 200


def test_what_is_nested_without_end_is_poison_too() -> None:
    with pytest.raises(Poison, match="not JSON"):
        accepted_file.decode(b'{"FileId":' * 100_000)


def test_a_url_beyond_all_bounds_is_poison() -> None:
    body = {"FileId": str(FILE), "ClientApplicationId": str(CLIENT_APPLICATION), "FileUrl": "https://h/" + "x" * 16384}
    with pytest.raises(Poison, match="at most 16384 bytes"):
        accepted_file.decode(msgspec.json.encode(body))


def test_our_own_accepted_file_message_is_written_byte_for_byte() -> None:
    full = AcceptedFile(file_id=FILE, client_application_id=CLIENT_APPLICATION, file_url=URL, trace_context=TRACE)
    golden = GOLDEN / "accepted-file" / "understood" / "as-we-write-it.json"
    assert accepted_file.encode(full) + b"\n" == golden.read_bytes()
    bare = AcceptedFile(file_id=FILE, client_application_id=CLIENT_APPLICATION)
    assert json.loads(accepted_file.encode(bare)) == {
        "FileId": str(FILE),
        "ClientApplicationId": str(CLIENT_APPLICATION),
    }


@given(body=st.binary(max_size=200))
def test_any_bytes_are_a_message_or_poison(body: bytes) -> None:
    with pytest.raises(Poison):
        accepted_file.decode(body)


@given(
    fields=st.dictionaries(
        st.sampled_from(["FileId", "fileId", "ClientApplicationId", "FileUrl", "TraceContext", "data", "traceparent"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text() | st.uuids().map(str),
            lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["FileId", "FileUrl"]), inner),
            max_leaves=4,
        ),
    )
)
def test_any_object_is_a_message_or_poison(fields: dict[str, object]) -> None:
    with suppress(Poison):
        message = accepted_file.decode(json.dumps(fields).encode())
        assert len(message.trace_context or "") <= 100


@given(
    path=st.sampled_from(UNDERSTOOD),
    cuts=st.lists(st.tuples(st.integers(0, 700), st.integers(0, 4), st.binary(max_size=4)), min_size=1, max_size=4),
)
def test_a_damaged_message_is_still_one_or_poison_in_a_short_line(
    path: Path, cuts: list[tuple[int, int, bytes]]
) -> None:
    body = path.read_bytes()
    for at, gone, instead in cuts:
        body = body[:at] + instead + body[at + gone :]
    try:
        message = accepted_file.decode(body)
    except Poison as poison:
        assert poison.reason in {directory.name for directory in (GOLDEN / "accepted-file" / "poison").iterdir()}  # noqa: PT017 - it may also be understood
        assert str(poison).isprintable()  # noqa: PT017 - it may also be understood
        assert len(str(poison)) < 200  # noqa: PT017 - it may also be understood
    else:
        assert accepted_file.decode(accepted_file.encode(message)) == message


@given(
    message=st.builds(
        AcceptedFile,
        file_id=st.uuids(),
        client_application_id=st.uuids(),
        file_url=st.none() | st.just(URL),
        trace_context=st.none() | st.just(TRACE),
    )
)
def test_what_we_write_is_what_we_read(message: AcceptedFile) -> None:
    assert accepted_file.decode(accepted_file.encode(message)) == message


@pytest.mark.parametrize("of", EventType)
def test_job_status_envelopes_are_written_byte_for_byte(of: EventType) -> None:
    assert job_status.encode(event(of)) + b"\n" == (GOLDEN / "job-status" / f"{of}.json").read_bytes()


@pytest.mark.parametrize("of", EventType)
def test_job_status_envelopes_keep_the_stories_keys(of: EventType) -> None:
    envelope = json.loads((GOLDEN / "job-status" / f"{of}.json").read_bytes())
    required = {"JobID", "Timestamp", "FileId", "ClientApplicationExtractorID"}
    optional = {"JobSucceeded": {"ResultSummary"}, "JobFailed": {"ErrorMessage"}}.get(of, set())
    assert envelope["data"].keys() == required | optional
    assert envelope["type"] == f"fluxx.extractor.{of}"
    assert envelope["subject"] == envelope["data"]["JobID"]
    assert envelope["time"] == envelope["data"]["Timestamp"]


def test_an_event_without_a_trace_says_nothing_of_one() -> None:
    assert b"traceparent" not in job_status.encode(event(EventType.JOB_QUEUED, trace=None))


@pytest.mark.parametrize("of", EventType)
def test_our_own_envelopes_are_read_back(of: EventType) -> None:
    envelope = job_status.decode((GOLDEN / "job-status" / f"{of}.json").read_bytes())
    written = event(of)
    assert (envelope.id, envelope.time, envelope.traceparent) == (written.event_id, written.timestamp, TRACE)
    assert (envelope.data.result_summary, envelope.data.error_message) == (
        written.result_summary,
        written.error_message,
    )
    with pytest.raises(msgspec.DecodeError):
        job_status.decode(b'{"specversion":"1.0"}')
