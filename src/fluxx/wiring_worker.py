"""The worker's half of the wiring: the loops from an accepted file to its published events, and the steps they run."""

import os
import socket
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from fluxx.errors import Unavailable
from fluxx.extraction.asking import Asking
from fluxx.extraction.catalogue import Catalogue
from fluxx.extraction.collect import Collect
from fluxx.extraction.dispatcher import Capacity, Dispatcher
from fluxx.extraction.finish import Finish, Steps
from fluxx.extraction.handed_out import HandedOut
from fluxx.extraction.poll import Poll
from fluxx.extraction.submit import Submit
from fluxx.intake.accepting import Accepting
from fluxx.loops.loop import Loop
from fluxx.loops.supervisor import Part
from fluxx.outbox.relay import Relay
from fluxx.telemetry import SERVICE_DRAINING
from fluxx.upkeep.purge import ROUND_REST
from fluxx.upkeep.signing_in import SigningIn
from fluxx.wiring import World, purge

DRAIN_PATIENCE: Final = 5.0
"""Seconds that running steps get at the end, before their jobs are given back."""


def relay_of(world: World) -> Relay:
    """Return the relay of one process: the worker's loop drives it, and ``/readyz`` asks it."""
    return Relay(
        outbox=world.outbox,
        publisher=world.bus,
        topic=world.settings.topic_job_status,
        clock=world.clock,
        facts=world.facts,
    )


def worker_parts(world: World, relay: Relay | None = None) -> list[Part]:
    """Return the loops of a worker, in the order of a file's life: intake last, so that it stops first."""
    relaying = Loop("relay", (relay or relay_of(world)).step, world.facts)

    async def claim() -> float:
        return await dispatcher.claim()

    claiming = Loop("dispatch", claim, world.facts)
    dispatcher = _dispatcher(world, relaying, claiming)
    renewing = Loop("renew", dispatcher.renew, world.facts)
    accepting = Loop("accept", _accepting(world, (claiming, relaying)).step, world.facts)

    async def dispatch() -> None:
        await claiming.run()
        world.facts.tell(SERVICE_DRAINING)
        await dispatcher.drain(patience=DRAIN_PATIENCE)

    return [
        _signing_in(world),
        _upkeep(world),
        part_of(relaying),
        part_of(renewing),
        Part(name="dispatch", run=dispatch, stop=claiming.stop, drain=2 * DRAIN_PATIENCE),
        part_of(accepting),
    ]


def _signing_in(world: World) -> Part:
    signing_in = SigningIn(world.presence, worker=f"{socket.gethostname()}:{os.getpid()}")
    loop = Loop("sign-in", signing_in.step, world.facts)

    async def run() -> None:
        await loop.run()
        with suppress(Unavailable):
            await signing_in.end()

    return Part(name=loop.name, run=run, stop=loop.stop)


def _upkeep(world: World) -> Part:
    days, forgetting = world.settings.retention_days, purge(world)

    async def step() -> float:
        await forgetting.unseen_minutes()
        if days is not None:
            await forgetting.older_than(timedelta(days=days))
        return ROUND_REST

    return part_of(Loop("retention", step, world.facts))


def part_of(loop: Loop) -> Part:
    """Return a loop as the supervisor runs it."""
    return Part(name=loop.name, run=loop.run, stop=loop.stop)


def _accepting(world: World, news_for: Iterable[Loop]) -> Accepting:
    def announce() -> None:
        for loop in news_for:
            loop.wake()

    return Accepting(
        subscription=world.bus.subscription(
            world.settings.topic_accepted_file, world.settings.accepted_file_subscription
        ),
        registry=world.registry,
        store=world.jobs,
        blobs=world.blobs,
        limits=world.settings.limits,
        clock=world.clock,
        facts=world.facts,
        announce=announce,
    )


def _dispatcher(world: World, relaying: Loop, claiming: Loop) -> Dispatcher:
    settings = world.settings
    finish = Finish(
        steps=_steps(world),
        store=world.jobs,
        limits=settings.limits,
        clock=world.clock,
        facts=world.facts,
        chance=world.chance,
        announce=relaying.wake,
    )
    capacity = Capacity(jobs=settings.max_concurrency, share=settings.extractor_share, lease=settings.lease_seconds)
    return Dispatcher(
        store=world.jobs,
        finish=finish,
        capacity=capacity,
        clock=world.clock,
        facts=world.facts,
        wake=claiming.wake,
    )


def _steps(world: World) -> Steps:
    settings = world.settings
    asking = Asking(client=world.extractors, secrets=world.secrets)
    catalogue = Catalogue(registrations=world.registrations, files=world.files)
    handed_out = HandedOut(
        catalogue=catalogue, blobs=world.blobs, secrets=world.secrets, url_ttl=settings.signed_url_ttl_seconds
    )
    collect = _collect(world, handed_out)
    submit = Submit(
        asking=asking,
        catalogue=catalogue,
        collect=collect,
        handed_out=handed_out,
        clock=world.clock,
        timeout=settings.submit_timeout_seconds,
        max_bytes=settings.max_inline_result_bytes,
    )
    poll = Poll(
        asking=asking,
        catalogue=catalogue,
        collect=collect,
        handed_out=handed_out,
        clock=world.clock,
        timeout=settings.poll_timeout_seconds,
        max_bytes=settings.max_inline_result_bytes,
    )
    return Steps(submit=submit, poll=poll, secrets_of=handed_out.secrets_of)


def _collect(world: World, handed_out: HandedOut) -> Collect:
    return Collect(
        client=world.extractors,
        secrets=world.secrets,
        blobs=world.blobs,
        handed_out=handed_out,
        clock=world.clock,
        facts=world.facts,
        timeout=world.settings.poll_timeout_seconds,
        max_bytes=world.settings.max_result_bytes,
    )
