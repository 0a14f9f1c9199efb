"""Retries of our own calls to the Key Vault: few, bounded, told as facts, at the server's pace."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import stamina
from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError, ServiceResponseError

from fluxx.adapters.azure.failures import words
from fluxx.errors import Unavailable
from fluxx.telemetry import VAULT_RETRYING, Facts

ATTEMPTS: Final = 4
LONGEST_RETRY_AFTER: Final = 5.0
"""Seconds: a server that asks for more is not waited for here; the job that needs it waits instead."""
_PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
_Result = TypeVar("_Result")


class Patience:
    """Asks again where the trouble may pass: network errors, 408, 429 and 5xx."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        # Told as facts; stamina's own reporting would write to standard output.
        stamina.instrumentation.set_on_retry_hooks([])

    async def ask(self, call: Callable[[], Awaitable[_Result]], *, bound: float) -> _Result:
        """Return what ``call`` returns, after ``bound`` seconds at the latest.

        Raises the last ``AzureError``, or ``Unavailable`` at the bound.
        """
        patiently = stamina.AsyncRetryingCaller(
            attempts=ATTEMPTS, timeout=bound, wait_initial=0.2, wait_max=2.0, wait_jitter=0.2
        )
        try:
            async with asyncio.timeout(bound):
                return await patiently(self._pause, call)
        except TimeoutError as error:
            raise Unavailable(f"The Key Vault gave no answer within {bound:g} s.") from error

    def _pause(self, error: Exception) -> bool | float:
        """Return whether to ask again, or after how many seconds."""
        if not isinstance(error, AzureError):
            return False
        pause: bool | float = isinstance(error, ServiceRequestError | ServiceResponseError)
        if isinstance(error, HttpResponseError) and error.status_code in _PASSING:
            pause = _retry_after(error)
        if pause is not False:
            self._facts.tell(VAULT_RETRYING, error=words(error))
        return pause


def _retry_after(error: HttpResponseError) -> bool | float:
    wish = str(getattr(error.response, "headers", {}).get("Retry-After", ""))
    if not wish.isdecimal():
        return True
    return float(wish) if float(wish) <= LONGEST_RETRY_AFTER else False
