"""The pages' half of the wiring: the same parts as behind the APIs, and the same callers with the same rights."""

from functools import partial

from starlette.requests import Request

from fluxx.api.access.callers import SCOPE_KEY, Caller, Role, Unidentified
from fluxx.api.context import ApiContext
from fluxx.dashboard.context import DashboardContext, Visitor
from fluxx.roles import Roles
from fluxx.wiring import World


def dashboard_context(world: World, api: ApiContext, roles: Roles) -> DashboardContext:
    """Return what the pages stand on, beside the APIs of ``api``, in a process that has ``roles``."""

    async def knows(key: str) -> bool:
        try:
            await api.credentials.caller({"authorization": f"Bearer {key}"})
        except Unidentified:
            return False
        return True

    return DashboardContext(
        registrations=world.registrations,
        registering=api.registering,
        files=world.files,
        uploading=api.uploading,
        reader=world.reader,
        observer=world.observer,
        presence=world.presence,
        intervention=api.intervention,
        blobs=world.blobs,
        limits=world.settings.limits,
        clock=world.clock,
        facts=world.facts,
        roles=roles,
        visitor=partial(visitor, roles),
        knows=knows if api.credentials.guarded else None,
    )


def visitor(roles: Roles, request: Request) -> Visitor | None:
    """Return the caller that the guard found, as the pages of ``roles`` know it; None where it let anybody in."""
    caller: Caller | None = request.scope.get(SCOPE_KEY)
    if caller is None:
        return None
    return Visitor(
        name=caller.name,
        may_operate=caller.role >= Role.OPERATE,
        may_upload=caller.role >= Role.OPERATE and "files" in roles,
        may_register=caller.role >= Role.ADMIN and "registration" in roles,
        client_application_id=caller.client_application_id,
    )
