"""``fluxx why``: where a job stands and why, in plain sentences."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from fluxx.cli import output
from fluxx.cli.opening import with_world
from fluxx.cli.options import AsJson, JobId

if TYPE_CHECKING:
    from fluxx.model.why import Situation, Why
    from fluxx.wiring import World


def why(job_id: JobId, as_json: AsJson = False) -> None:
    """Say in plain sentences why a job is where it is."""
    from fluxx.model import why as reasons

    file_name, situation = with_world(lambda world: _situation(world, job_id))
    found = reasons.why(situation)
    if as_json:
        output.json_line(_json(situation, found))
        return
    output.line(output.printable(f"{file_name} at {situation.extractor}: {situation.job.status}"))
    output.line("")
    output.fields(_lines(situation, found))


async def _situation(world: "World", job_id: UUID) -> "tuple[str, Situation]":
    from fluxx.cli.watching import look
    from fluxx.model.why import Situation

    seen = (await look(world, [await world.reader.job(job_id)]))[0]
    extractor = await world.registrations.extractor(seen.job.client_application_extractor_id)
    return seen.file_name, Situation(
        job=seen.job,
        history=seen.history,
        extractor=extractor.name,
        is_active=extractor.is_active,
        limits=world.settings.limits,
        now=world.clock.now(),
    )


def _lines(situation: "Situation", found: "Why") -> list[tuple[str, str]]:
    from fluxx.model.why import limits_of

    lines = [("What happened", found.happened)]
    if found.waiting:
        lines.append(("Now", found.waiting))
    if found.until:
        lines.append(("Until (UTC)", output.moment(found.until)))
    for limit in limits_of(situation.job, situation.limits, situation.now)[:1]:
        bites = f", ends the job at {output.moment(limit.bites_at)}" if limit.bites_at else ""
        lines.append(("Next limit", f"{limit.name}: {limit.used} of {limit.allowed}{bites}"))
    lines.append(("What to do", found.todo or "Nothing."))
    return lines


def _json(situation: "Situation", found: "Why") -> dict[str, Any]:
    return {
        "jobId": situation.job.job_id,
        "status": situation.job.status,
        "happened": found.happened,
        "waiting": found.waiting,
        "until": found.until,
        "todo": found.todo,
    }
