"""The golden envelopes of ``TOPIC_JOB_STATUS`` as a section of ``docs/events.md``."""

import json
from pathlib import Path
from typing import Final

from fluxx.model.transitions import EventType

ENVELOPES: Final = Path(__file__).parents[1] / "messages" / "job-status"


def envelopes_page() -> str:
    """Return each golden envelope under its name, spread out to be read."""
    return "\n\n".join(_example(event_type) for event_type in EventType)


def _example(event_type: EventType) -> str:
    envelope = json.loads((ENVELOPES / f"{event_type}.json").read_bytes())
    return f"### {event_type}\n\n```json\n{json.dumps(envelope, indent=2, ensure_ascii=False)}\n```"
