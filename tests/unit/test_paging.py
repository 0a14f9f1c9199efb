"""Cursors lead back to where they came from, and nothing else is one."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.paging import cursor_of, position_of
from fluxx.errors import BadInput
from fluxx.ports.jobs import Position

moments = st.datetimes(timezones=st.just(UTC))


@given(created_at=moments, job_id=st.uuids())
def test_a_cursor_leads_back_to_its_position(created_at: datetime, job_id: object) -> None:
    position = Position(created_at, job_id)
    assert position_of(cursor_of(position)) == position


@given(text=st.text() | st.binary(min_size=24, max_size=24).map(bytes.hex))
def test_any_other_text_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(BadInput) as refused:
        position_of(text)
    assert refused.value.field == "cursor"
    assert refused.value.malformed


@given(
    forged=st.binary(min_size=24, max_size=24) | st.binary(min_size=21, max_size=21).map(lambda end: b"\0\6\0" + end)
)
def test_what_has_the_form_of_a_cursor_is_one_or_refused_and_written_in_one_way(forged: bytes) -> None:
    cursor = urlsafe_b64encode(forged).decode()
    try:
        position = position_of(cursor)
    except BadInput as refused:
        assert (refused.field, refused.malformed) == ("cursor", True)  # noqa: PT017 - it may also be one
    else:
        assert cursor_of(position) == cursor
