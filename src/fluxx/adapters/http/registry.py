"""The registry when registrations live in another process: the Registration API over HTTP (story 7).

Its address comes from our own settings (``REGISTRATION_URL``), so the egress guard has no part in it.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import aiohttp
import msgspec

from fluxx.errors import NotFound, Unavailable
from fluxx.model.job import ActiveExtractor
from fluxx.ports.secrets import ApiKey

TIMEOUT: Final = aiohttp.ClientTimeout(total=10.0)


class _Item(msgspec.Struct, rename="camel"):
    client_application_extractor_id: UUID
    extraction_url: str
    polling_url: str | None = None


_decoder = msgspec.json.Decoder(list[_Item])


class HttpRegistry:
    """Keeps the promise of ``ports.registrations.Registry``; shows ``api_key`` where the API asks for one."""

    def __init__(self, base_url: str, *, api_key: ApiKey | None = None) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {api_key.reveal()}"} if api_key else {}
        self._session: aiohttp.ClientSession | None = None

    async def active_extractors(self, client_application_id: UUID) -> Sequence[ActiveExtractor]:
        """See ``Registry.active_extractors``."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=TIMEOUT, cookie_jar=aiohttp.DummyCookieJar(), headers=self._headers
            )
        url = f"{self._base_url}/registration/{client_application_id}/extractors"
        try:
            async with self._session.get(url, allow_redirects=False) as answer:
                return _read(answer.status, await answer.read(), client_application_id)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unavailable(f"The Registration API can't be reached: {type(error).__name__}.") from error

    async def close(self) -> None:
        """Give back connections."""
        if self._session is not None:
            await self._session.close()


def _read(status: int, body: bytes, client_application_id: UUID) -> Sequence[ActiveExtractor]:
    # Only a problem of the API itself says that there is no such client; any other 404 is a wrong address.
    if status == 404 and b'"status":404' in body.replace(b" ", b"") and b"client application" in body.lower():  # noqa: PLR2004 - HTTP's own number
        raise NotFound(f"There is no active client application {client_application_id}.")
    if status in {401, 403}:
        raise Unavailable(f"The Registration API answered {status}; is REGISTRATION_API_KEY right?")
    if status != 200:  # noqa: PLR2004 - HTTP's own number
        raise Unavailable(f"The Registration API answered {status}; is REGISTRATION_URL right?")
    try:
        items = _decoder.decode(body)
    except msgspec.DecodeError as error:
        raise Unavailable(f"The Registration API's answer makes no sense: {error}") from error
    return [
        ActiveExtractor(
            client_application_extractor_id=item.client_application_extractor_id,
            extraction_url=item.extraction_url,
            polling_url=item.polling_url,
        )
        for item in items
    ]
