"""``fluxx events``: what was published to ``TOPIC_JOB_STATUS``, and what was put aside as unreadable."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

import typer

from fluxx.cli import output
from fluxx.cli.opening import with_world
from fluxx.cli.options import AsJson

if TYPE_CHECKING:
    from fluxx.ports.bus import Recorded, Subscription
    from fluxx.wiring import World

EVENTS: Final = (("TIME (UTC)", 19), ("EVENT", 12), ("JOB", 36), ("SAYS", 0))
DEAD: Final = (("TIME (UTC)", 19), ("REASON", 24), ("SAYS", 0))
PAGE: Final = 500
LOOK_EVERY: Final = 0.5
"""Seconds between two looks with --follow."""

Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on and print new events as they come.")]
OfJob = Annotated[UUID | None, typer.Option("--job", metavar="ID", help="Only events of this job.")]
Dead = Annotated[bool, typer.Option("--dead", help="Messages that were put aside as never to be understood.")]


def show_events(as_json: AsJson = False, follow: Follow = False, job: OfJob = None, dead: Dead = False) -> None:
    """Show the published events, oldest first.

    With --json each envelope is printed exactly as it was sent, one a line.
    """
    if dead and job:
        raise typer.BadParameter("--dead and --job don't go together: a dead message has no job")
    with_world(lambda world: _dead(world, as_json, follow) if dead else _events(world, as_json, follow, job))


async def _events(world: "World", as_json: bool, follow: bool, job: UUID | None) -> None:
    if job is not None:
        await world.reader.job(job)
    settings = world.settings
    subscription = world.bus.subscription(settings.topic_job_status, settings.job_status_subscription)
    stream = output.Stream(EVENTS, empty="No events.")
    async for recorded in _browsed(subscription, dead=False, follow=follow):
        if job is not None and recorded.message.order_key != str(job):
            continue
        if as_json:
            output.raw_line(recorded.message.body)
        else:
            stream.row(*_cells(recorded))
    if not as_json:
        stream.end()


async def _dead(world: "World", as_json: bool, follow: bool) -> None:
    """Print dead letters, and of their signed URLs not the signature: it opens the file to whoever has it."""
    from fluxx.scrubbing import unsigned

    settings = world.settings
    subscription = world.bus.subscription(settings.topic_accepted_file, settings.accepted_file_subscription)
    stream = output.Stream(DEAD, empty="No dead messages.")
    async for recorded in _browsed(subscription, dead=True, follow=follow):
        if as_json:
            output.json_line(
                {
                    "messageId": recorded.message.message_id,
                    "enqueuedAt": recorded.enqueued_at,
                    "reason": recorded.dead_letter_reason,
                    "description": recorded.dead_letter_description,
                    "body": unsigned(recorded.message.body.decode(errors="replace")),
                }
            )
        else:
            body = unsigned(recorded.message.body.decode(errors="replace"))
            said = f"{recorded.dead_letter_description or ''}  {body}"
            stream.row(output.moment(recorded.enqueued_at), recorded.dead_letter_reason or "", said)
    if not as_json:
        stream.end()


async def _browsed(subscription: "Subscription", *, dead: bool, follow: bool) -> AsyncIterator["Recorded"]:
    import asyncio

    after = 0
    while True:
        page = await subscription.browse(after=after, limit=PAGE, dead=dead)
        for recorded in page:
            after = recorded.sequence
            yield recorded
        if not page and not follow:
            return
        if not page:
            await asyncio.sleep(LOOK_EVERY)


def _cells(recorded: "Recorded") -> tuple[str, str, str, str]:
    import msgspec

    from fluxx.messages import job_status

    try:
        envelope = job_status.decode(recorded.message.body)
    except msgspec.DecodeError:
        return output.moment(recorded.enqueued_at), "-", "-", f"not one of ours: message {recorded.message.message_id}"
    data = envelope.data
    name = envelope.type.removeprefix(job_status.TYPE_PREFIX)
    return output.moment(data.timestamp), name, str(data.job_id), data.result_summary or data.error_message or ""
