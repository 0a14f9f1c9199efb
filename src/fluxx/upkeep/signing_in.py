"""Signing in: a worker says that it is there, so that the pages can tell how many are.

Run by every worker for as long as it lives.
"""

from typing import Final

from fluxx.ports.presence import Presence

REST: Final = 15.0
"""Seconds between two sign-ins."""

STAYS: Final = 3 * REST
"""Seconds after which a worker that was killed is no longer counted."""


class SigningIn:
    """The step of the loop; ``worker`` is how operators find the process."""

    def __init__(self, presence: Presence, *, worker: str) -> None:
        self._presence = presence
        self._worker = worker

    async def step(self) -> float:
        """Sign in; return the seconds to rest. Raises ``Unavailable``."""
        await self._presence.sign_in(self._worker, stays=STAYS)
        return REST

    async def end(self) -> None:
        """Sign out. Raises ``Unavailable``."""
        await self._presence.sign_out(self._worker)
