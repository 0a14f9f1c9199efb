"""One question to an extractor: with its key, and once more with the key read again if it was refused.

Used by ``submit`` and ``poll``; what the answer means is said by ``answers``.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias
from uuid import UUID

from msgspec.structs import replace

from fluxx.errors import EgressRefused, FluxxError, NoAnswer, NotFound, SecretMissing, TooLarge, Unavailable
from fluxx.extraction import answers
from fluxx.extraction.answers import KeyRejected, Ready
from fluxx.model.job import Job
from fluxx.model.outcome import Outcome, Refused
from fluxx.ports.extractor import Answer, Call, ExtractorClient
from fluxx.ports.secrets import Secrets

Meaning: TypeAlias = Outcome | Ready
Reader: TypeAlias = Callable[[Answer, Sequence[str]], Awaitable[Meaning | KeyRejected]]
"""Says what an answer means; the second argument holds the keys, which must not be repeated."""


class Asking:
    """Calls extractors with their API keys (stories 6, 8 and 9)."""

    def __init__(self, *, client: ExtractorClient, secrets: Secrets) -> None:
        self._client = client
        self._secrets = secrets

    async def ask(self, extractor_id: UUID, call: Call, read: Reader) -> Meaning:
        """Make the call with the extractor's key and return its meaning.

        A rejected key is read again from the vault once: keys rotate. Raises what the client and
        the vault raise.
        """
        key = await self._secrets.api_key(extractor_id)
        answer = await self._client.exchange(replace(call, api_key=key))
        reading = await read(answer, [key.reveal()])
        if isinstance(reading, KeyRejected):
            fresh = await self._secrets.api_key(extractor_id, fresh=True)
            if fresh.reveal() != key.reveal():
                answer = await self._client.exchange(replace(call, api_key=fresh))
                reading = await read(answer, [key.reveal(), fresh.reveal()])
        return Refused(reading.reason) if isinstance(reading, KeyRejected) else reading


Step: TypeAlias = Callable[[Job], Awaitable[Outcome]]
SecretsOf: TypeAlias = Callable[[Job], Awaitable[Sequence[str]]]


async def guarded(step: Step, job: Job, secrets_of: SecretsOf) -> Outcome:
    """Run a step; turn what it may run into (and is expected to) into the outcome that it means.

    Where a call failed, its URL is told, and an extractor may have put into that what ``secrets_of`` knows.
    """
    try:
        return await step(job)
    except (EgressRefused, NoAnswer, TooLarge) as error:
        failed: FluxxError = error
    except (NotFound, SecretMissing, Unavailable) as error:
        return answers.failure(error)
    try:
        return answers.failure(failed, secrets=await secrets_of(job))
    except Unavailable as away:
        return answers.failure(away)
