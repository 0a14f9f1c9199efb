"""Alive, ready, counted."""

import asyncio

import httpx
import pytest
from msgspec.structs import replace

from fluxx.api.app import create_app
from fluxx.errors import Unavailable
from fluxx.running import api_context
from support.problems import problem_of
from support.service import House

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_running_process_is_alive(fluxx: House) -> None:
    answer = await fluxx.http.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_it_is_ready_once_every_part_answers(fluxx: House) -> None:
    answer = await fluxx.http.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "checks": {"database": "ok", "bus": "ok", "blobs": "ok", "secrets": "ok"},
    }


async def test_what_is_missing_is_named(fluxx: House) -> None:
    async def fine() -> None:
        return

    async def away() -> None:
        raise Unavailable("The vault doesn't answer.")

    async def broken() -> None:
        raise KeyError("internals")

    async def silent() -> None:
        await asyncio.Event().wait()

    context = replace(
        api_context(fluxx.world), checks={"database": fine, "secrets": away, "blobs": broken, "bus": silent}
    )
    transport = httpx.ASGITransport(create_app(context))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        answer = await http.get("/readyz")
        alive = await http.get("/healthz")
    problem = problem_of(answer, 503)
    assert problem["checks"] == {
        "database": "ok",
        "secrets": "The vault doesn't answer.",
        "blobs": "failed unexpectedly (KeyError)",
        "bus": "no answer within 2 s",
    }
    assert "internals" not in answer.text
    assert alive.status_code == 200


async def test_facts_are_counted(fluxx: House) -> None:
    await fluxx.upload(await fluxx.client_application())
    answer = await fluxx.http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "fluxx_file_uploaded_total 1.0" in answer.text.splitlines()
