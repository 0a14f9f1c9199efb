"""The roles that a process can have.

The command line chooses them, ``wiring`` opens what they use, ``running`` runs them.
"""

from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["worker", "registration", "files", "jobs"]
ApiRole: TypeAlias = Literal["registration", "files", "jobs"]
Roles: TypeAlias = frozenset[Role]

API_ROLES: Final[tuple[ApiRole, ...]] = ("registration", "files", "jobs")
ALL_ROLES: Final[Roles] = frozenset({"worker", *API_ROLES})

NEEDS: Final[dict[Role, tuple[str, ...]]] = {
    "worker": ("database", "bus", "blobs", "secrets"),
    "registration": ("database", "secrets"),
    "files": ("database", "bus", "blobs"),
    "jobs": ("database", "blobs"),
}
"""Which parts of the world each role can't do without: asked at the start, and by ``/readyz``."""
