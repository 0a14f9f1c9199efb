"""The OpenAPI document of each API, as a running service gives it."""

import asyncio
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from fluxx import settings, wiring
from fluxx.api.app import Role, create_app
from fluxx.clock import SystemClock
from fluxx.running import api_context
from fluxx.telemetry import Facts


def openapi_page(role: Role) -> Callable[[], str]:
    """Return the function that makes the document of one API."""
    return lambda: asyncio.run(_document(role))


async def _document(role: Role) -> str:
    with tempfile.TemporaryDirectory() as home:
        async with wiring.connect(
            settings.load(fluxx_home=Path(home)), facts=Facts(), clock=SystemClock(), chance=random.Random(1)
        ) as world:
            app = create_app(api_context(world), roles={role})
            return json.dumps(app.openapi(), indent=2, ensure_ascii=False) + "\n"
