"""The page Extractors: how each one does, and what an administrator can change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from fluxx.dashboard.charts import Chart, chart_of
from fluxx.dashboard.context import DashboardContext, Visitor
from fluxx.dashboard.forms import Fields, an_id, fields_of
from fluxx.dashboard.glance import SLOW_SECONDS, Glance
from fluxx.dashboard.rendering import Renderer
from fluxx.dashboard.seeing import Registered, Seeing
from fluxx.errors import BadInput, FluxxError
from fluxx.model.counts import Counts
from fluxx.model.job import ClientApplication, Extractor, Status
from fluxx.model.kinds import Kind, kind_of
from fluxx.ports.jobs import JobFilter
from fluxx.ports.secrets import ApiKey
from fluxx.registration.registering import ExtractorChange

PAGE: Final = "/dashboard/extractors"
DAY_MINUTES: Final = 24 * 60
FAILURES_READ: Final = 500
"""The newest failures of all extractors, sorted by kind: enough to see what is wrong."""

SPARK_BARS: Final = 30


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One extractor: counts since the beginning and of the last day, its newest failures by kind, its last hour."""

    extractor: Extractor
    all_time: Counts
    day: Counts
    kinds: Sequence[tuple[Kind, int]]
    chart: Chart


class Group(msgspec.Struct, frozen=True):
    """A client application with the cards of its extractors."""

    client: ClientApplication
    cards: Sequence[Card]


class ExtractorPages:
    """``/dashboard/extractors``."""

    def __init__(self, context: DashboardContext, renderer: Renderer, glance: Glance) -> None:
        self._context = context
        self._renderer = renderer
        self._glance = glance
        self._seeing = Seeing(context)

    def routes(self) -> list[Route]:
        """Return the routes; only those that look, where the process doesn't register."""
        looking = Route(PAGE, self.show, methods=["GET"])
        if "registration" not in self._context.roles:
            return [looking]
        return [
            looking,
            Route(f"{PAGE}/client", self.add_client, methods=["POST"]),
            Route(f"{PAGE}/add", self.add, methods=["POST"]),
            Route(PAGE + "/{extractorId}/change", self.change, methods=["POST"]),
            Route(PAGE + "/{extractorId}/key", self.set_key, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """Show all extractors."""
        return await self._page(request, done=request.query_params.get("done", ""))

    async def add_client(self, request: Request) -> Response:
        """Register a client application."""
        fields = await fields_of(request)
        try:
            made = await self._context.registering.register_client_application(fields.text("name"))
        except BadInput as error:
            return await self._page(request, error=error, fields=fields, form="client")
        return _to(f"client-{made.client_application_id}", "client")

    async def add(self, request: Request) -> Response:
        """Register an extractor."""
        fields = await fields_of(request)
        client = self._client(request, fields)
        key = fields.text("key")
        try:
            made = await self._context.registering.register_extractor(
                client,
                name=fields.text("name"),
                extraction_url=fields.text("url"),
                polling_url=fields.text("polling") or None,
                api_key=ApiKey(key) if key else None,
            )
        except BadInput as error:
            return await self._page(request, error=error, fields=fields, form=f"add-{client}")
        return _to(f"extractor-{made.client_application_extractor_id}", "added")

    async def change(self, request: Request) -> Response:
        """Activate or deactivate an extractor."""
        fields = await fields_of(request)
        extractor = await self._extractor(request)
        active = fields.text("active") == "true"
        await self._context.registering.change_extractor(
            extractor.client_application_id,
            extractor.client_application_extractor_id,
            ExtractorChange(is_active=active),
        )
        return _to(f"extractor-{extractor.client_application_extractor_id}", "activated" if active else "deactivated")

    async def set_key(self, request: Request) -> Response:
        """Put a new API key into the vault; nobody sees it again."""
        fields = await fields_of(request)
        extractor_id = (await self._extractor(request)).client_application_extractor_id
        try:
            await self._context.registering.set_api_key(extractor_id, _key_in(fields))
        except BadInput as error:
            return await self._page(request, error=error, fields=fields, form=f"key-{extractor_id}")
        return _to(f"extractor-{extractor_id}", "key")

    def _client(self, request: Request, fields: Fields) -> UUID:
        client = an_id(fields.text("client"), field="client")
        self._renderer.visitor(request).check(client, f"There is no client application {client}.")
        return client

    async def _extractor(self, request: Request) -> Extractor:
        extractor_id = an_id(request.path_params["extractorId"], field="extractorId")
        found = await self._context.registrations.extractor(extractor_id)
        self._renderer.visitor(request).check(found.client_application_id, f"There is no extractor {extractor_id}.")
        return found

    async def _page(
        self,
        request: Request,
        *,
        done: str = "",
        error: FluxxError | None = None,
        fields: Fields | None = None,
        form: str = "",
    ) -> Response:
        visitor = self._renderer.visitor(request)
        registered = await self._seeing.registered(visitor)
        given = {name: fields.text(name) for name in ("name", "url", "polling")} if fields else {}
        return self._renderer.page(
            request,
            "extractors.html",
            status=422 if error else 200,
            groups=await self._groups(registered, visitor),
            done=done,
            error=error,
            form=form,
            given=given,
        )

    async def _groups(self, registered: Registered, visitor: Visitor) -> Sequence[Group]:
        all_time, day = await self._glance.since_the_beginning(), await self._glance.last(DAY_MINUTES)
        minutes, now = await self._glance.last_hour_of_each(), self._context.clock.now()
        client = visitor.client_application_id
        kinds = await self._glance.shared(("kinds", client), lambda: self._kinds(client), seconds=SLOW_SECONDS)
        cards = [
            Card(
                extractor=extractor,
                all_time=all_time.get(key, Counts()),
                day=day.get(key, Counts()),
                kinds=kinds.get(key, Counter()).most_common(4),
                chart=chart_of(minutes.get(key, ()), now=now, hours=1, bars=SPARK_BARS),
            )
            for key, extractor in registered.extractors.items()
        ]
        return [
            Group(client, [card for card in cards if card.extractor.client_application_id == key])
            for key, client in registered.clients.items()
        ]

    async def _kinds(self, client: UUID | None) -> Mapping[UUID, Counter[Kind]]:
        wanted = JobFilter(status=Status.FAILED, client_application_id=client)
        found: dict[UUID, Counter[Kind]] = {}
        for job in await self._context.reader.jobs(wanted, limit=FAILURES_READ):
            found.setdefault(job.client_application_extractor_id, Counter())[kind_of(job.status_message)] += 1
        return found


def _key_in(fields: Fields) -> ApiKey:
    key = fields.text("key")
    if not key:
        raise BadInput("The key is empty.", field="key")
    return ApiKey(key)


def _to(anchor: str, done: str) -> Response:
    return RedirectResponse(f"{PAGE}?done={done}#{anchor}", status_code=303)
