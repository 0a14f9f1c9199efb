"""Bus, storage and vault with a watch beside them: how long each call took, and how it ended.

Put around the adapters by the wiring; whoever calls them notices nothing. Calls that wait on purpose
(``receive``) and what is opened to be read later are not measured.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from time import monotonic
from typing import Any, Final, TypeVar, cast

from fluxx.telemetry import CALL_SECONDS, Facts

T = TypeVar("T")

MEASURED: Final = frozenset(
    {"publish", "complete", "abandon", "dead_letter"}
    | {"write", "delete", "signed_url"}
    | {"api_key", "set_api_key", "delete_api_key"}
)
"""The calls of the three ports that are worth a distribution."""


def measured(adapter: T, part: str, facts: Facts) -> T:
    """Return the same ``part`` (bus, blobs, secrets), its calls measured."""
    return cast("T", _Measured(adapter, part, facts))


class _Measured:
    """Stands in for an adapter; everything but the measured calls is the adapter's own."""

    def __init__(self, adapter: object, part: str, facts: Facts) -> None:
        self._adapter = adapter
        self._part = part
        self._facts = facts
        # Wrapped once: every poll asks for a key, and wrapping costs more than finding one.
        for name in MEASURED:
            if hasattr(adapter, name):
                setattr(self, name, self._timed(name, getattr(adapter, name)))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._adapter, name)
        if name == "subscription":
            return lambda *args: measured(found(*args), self._part, self._facts)
        return found

    def _timed(self, name: str, call: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
        @wraps(call)
        async def timed(*args: Any, **options: Any) -> T:
            began = monotonic()
            ended = "ok"
            try:
                return await call(*args, **options)
            except BaseException as error:
                ended = type(error).__name__
                raise
            finally:
                self._facts.observe(CALL_SECONDS, monotonic() - began, self._part, name, ended)

        return timed
