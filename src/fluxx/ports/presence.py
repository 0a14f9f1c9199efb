"""What the database promises about who is there: workers say so now and then, pages show who said so lately."""

from collections.abc import Sequence
from typing import Protocol


class Presence(Protocol):
    """The workers that are there. Nobody decides by it: jobs are shared out by claims alone."""

    async def sign_in(self, worker: str, *, stays: float) -> None:
        """Say that ``worker`` is there for the next ``stays`` seconds; who stayed away that long is forgotten."""
        ...

    async def sign_out(self, worker: str) -> None:
        """Say that ``worker`` ends now."""
        ...

    async def workers(self) -> Sequence[str]:
        """Return who is there, in the order of their names."""
        ...
