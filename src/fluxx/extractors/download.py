"""Fetches the submitted file: bounded in size and time, tried again where that may help. Used by ``jobs.py``."""

import asyncio
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

import aiohttp
import msgspec

from fluxx.extractors.contract import CannotExtract

ATTEMPTS: Final = 3
REST: Final = 0.5
"""Seconds between two attempts."""

CHUNK_BYTES: Final = 256 * 1024
SILENCE: Final = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=30)
"""Seconds: silence ends an attempt; mere slowness only meets the limit for the whole."""


class Fetched(msgspec.Struct, frozen=True):
    """What the other side says of the file: its Content-Type and its name, "" where it says nothing."""

    declared_type: str
    name: str


class _MayPass(Exception):
    """The attempt failed in a way that may pass; the text says how."""


async def fetch(
    session: aiohttp.ClientSession, url: str, target: Path, *, max_bytes: int, time_limit: float
) -> Fetched:
    """Write the file behind ``url`` to ``target``; ``time_limit`` (seconds) bounds all attempts together.

    Raises ``CannotExtract``; its message never holds the URL, which is signed.
    """
    reason = ""
    try:
        async with asyncio.timeout(time_limit):
            for attempt in range(ATTEMPTS):
                await asyncio.sleep(REST if attempt else 0)
                try:
                    return await _fetch_once(session, url, target, max_bytes)
                except _MayPass as error:
                    reason = str(error)
    except TimeoutError:
        reason = f"it took longer than {time_limit:g} s"
    raise _failed(reason)


async def _fetch_once(session: aiohttp.ClientSession, url: str, target: Path, max_bytes: int) -> Fetched:
    try:
        async with session.get(url, timeout=SILENCE) as response:
            _check(response, max_bytes)
            await _write(response, target, max_bytes)
            return Fetched(response.headers.get("Content-Type", ""), _name(response, url))
    except aiohttp.InvalidURL:
        raise _failed("the fileUrl is not a URL") from None
    except aiohttp.ClientSSLError as error:
        raise _failed(f"its server's certificate is not trusted ({type(error).__name__})") from None
    except aiohttp.ClientConnectorError as error:
        raise _MayPass(f"no connection to its server ({error.os_error.strerror or error.os_error})") from error
    except aiohttp.ServerTimeoutError as error:
        raise _MayPass("its server fell silent") from error
    except aiohttp.ClientError as error:
        raise _MayPass(f"the connection broke ({type(error).__name__})") from error


def _check(response: aiohttp.ClientResponse, max_bytes: int) -> None:
    answer = f"the answer was {response.status} {response.reason}"
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR or response.status == HTTPStatus.TOO_MANY_REQUESTS:
        raise _MayPass(answer)
    if response.status != HTTPStatus.OK:
        raise _failed(answer)
    if (response.content_length or 0) > max_bytes:
        raise _too_large(max_bytes)


async def _write(response: aiohttp.ClientResponse, target: Path, max_bytes: int) -> None:
    size = 0
    with await asyncio.to_thread(target.open, "wb") as file:
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            size += len(chunk)
            if size > max_bytes:
                raise _too_large(max_bytes)
            await asyncio.to_thread(file.write, chunk)


def _name(response: aiohttp.ClientResponse, url: str) -> str:
    disposition = response.content_disposition
    if disposition is not None and disposition.filename:
        return disposition.filename
    return PurePosixPath(unquote(urlsplit(url).path)).name


def _failed(reason: str) -> CannotExtract:
    return CannotExtract("download_failed", f"The file could not be downloaded: {reason}.")


def _too_large(max_bytes: int) -> CannotExtract:
    return CannotExtract("too_large", f"The file is larger than {max_bytes} bytes, the most that is taken here.")
