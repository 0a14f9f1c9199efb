"""Is it alive, is it ready, what has it counted: for orchestrators and Prometheus."""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.responses import Response

from fluxx.api.context import ApiContext
from fluxx.api.openapi import also, answer, new_router, problems, returns
from fluxx.api.problems import problem
from fluxx.api.schemas import Health, Readiness
from fluxx.errors import FluxxError
from fluxx.scrubbing import masked

CHECK_SECONDS: Final = 2.0
"""Longest wait for a part's answer: orchestrators ask often and give little time."""
OK: Final = "ok"


class HealthRoutes:
    """``/healthz``, ``/readyz`` and ``/metrics``."""

    def __init__(self, context: ApiContext) -> None:
        self._checks = context.checks
        self._facts = context.facts
        self._gauges = context.gauges

    def router(self) -> APIRouter:
        """Return the routes."""
        router = new_router("health")
        router.add_api_route(
            "/healthz",
            self.get_health,
            methods=["GET"],
            responses=returns(200, "The process answers.", Health) | problems(),
        )
        router.add_api_route(
            "/readyz",
            self.get_readiness,
            methods=["GET"],
            responses=returns(200, "Ready for work.", Readiness) | problems(503),
        )
        router.add_api_route(
            "/metrics",
            self.get_metrics,
            methods=["GET"],
            responses=also(200, "Prometheus text.", media_type="text/plain") | problems(),
        )
        return router

    async def get_health(self) -> Response:
        """Say that the process answers."""
        return answer(Health(status=OK))

    async def get_readiness(self) -> Response:
        """Ask the database, the bus, the blobs and the vault whether they answer."""
        names = list(self._checks)
        found = await asyncio.gather(*(_asked(self._checks[name]) for name in names))
        checks = dict(zip(names, found, strict=True))
        missing = {name: words for name, words in checks.items() if words != OK}
        if not missing:
            return answer(Readiness(status="ready", checks=checks))
        detail = "; ".join(f"{name}: {words}" for name, words in missing.items())
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, checks=checks)

    async def get_metrics(self) -> Response:
        """Return how much there is now, and the counters and distributions of all facts."""
        await self._gauges.refresh()
        return Response(generate_latest(self._facts.registry), media_type=CONTENT_TYPE_LATEST)


async def _asked(check: Callable[[], Awaitable[None]]) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} s"
    except FluxxError as error:
        return masked(str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, the part isn't ready
        return f"failed unexpectedly ({type(error).__name__})"
    return OK
