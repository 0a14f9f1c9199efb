"""The HTTP library's failures in our words, at the place where they happen.

Its own texts hold URLs with their signatures and pieces of answers, so nothing of them is passed
on, nor are they kept as causes (a logged traceback would show them).
"""

from collections.abc import Iterator
from typing import Final

import aiohttp
from aiohttp.client_middlewares import ClientHandlerType
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong

from fluxx.errors import NoAnswer, TooLarge

UNCONNECTED: Final[tuple[tuple[type[Exception], str], ...]] = (
    (aiohttp.ClientConnectorDNSError, "has a name that can't be resolved"),
    (aiohttp.ClientConnectorCertificateError, "has a TLS certificate that isn't valid for it"),
    (aiohttp.ClientConnectorSSLError, "doesn't speak TLS as it should"),
    (aiohttp.ConnectionTimeoutError, "didn't accept a connection in time"),
    (aiohttp.ClientConnectorError, "doesn't accept connections"),
)
"""Failures after which the request certainly never left; the first that fits counts."""

BROKEN: Final[tuple[tuple[type[Exception], str], ...]] = (
    (aiohttp.ServerDisconnectedError, "closed the connection without an answer"),
    (aiohttp.ClientPayloadError, "broke off in the middle of its answer"),
    (aiohttp.ClientResponseError, "gave an answer that isn't HTTP"),
    (Exception, "lost the connection"),
)


def told(error: Exception, where: object) -> NoAnswer | TooLarge:
    """Return what the library's ``error`` means for a caller; ``where`` is the target called."""
    if any(_is_about_size(cause) for cause in _causes(error)):
        return TooLarge(f"{where} answered with headers beyond all measure.")
    for kind, words in UNCONNECTED:
        if isinstance(error, kind):
            return NoAnswer(f"{where} {words}.", sent=False)
    return NoAnswer(f"{where} {next(words for kind, words in BROKEN if isinstance(error, kind))}.")


async def telling(request: aiohttp.ClientRequest, handler: ClientHandlerType) -> aiohttp.ClientResponse:
    """Middleware: make the request once and tell its failures.

    Told here, inside the library, they also keep it from silently sending a GET a second time,
    which would spend a result that can be fetched only once.
    """
    try:
        return await handler(request)
    except (aiohttp.ClientError, OSError, RuntimeError) as error:
        raise told(error, f"{request.url.origin()}{request.url.raw_path}") from None


def _is_about_size(error: BaseException) -> bool:
    return isinstance(error, LineTooLong) or (isinstance(error, BadHttpMessage) and "Too many" in error.message)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
