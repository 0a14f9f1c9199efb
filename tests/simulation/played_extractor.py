"""One extractor, played: it has a temper, and answers by chance within it.

What it gave that ends a job, and every result that it handed out, is kept for the invariants.
"""

import base64
import random
from typing import Literal, TypeAlias
from urllib.parse import quote
from uuid import UUID

import msgspec

from fluxx.ports.extractor import Answer, Call

Kind: TypeAlias = Literal["submit", "poll", "download"]


class Temper(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of 0 to 1, seconds, and counts that say how an extractor behaves."""

    errors: float
    fatal: float
    lost: float
    hanging: float
    slow: float
    at_once: float
    by_url: float
    expired: float
    never: float
    polls: int
    fickle: bool
    travel: float


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One call as it arrived. ``file_url`` and ``readable`` (whether it led to the file) are a submission's."""

    at: float
    extractor: str
    kind: Kind
    job_id: UUID
    idempotency_key: str | None = None
    key: str | None = None
    file_url: str | None = None
    readable: bool = True
    status: int = 0


class Commission(msgspec.Struct):
    """What an extractor knows of a job. ``given`` holds every result that it ever handed out."""

    number: int
    polls: int = 0
    never: bool = False
    ready_after: int = 0
    given: list[bytes] = []
    ended: str | None = None


class PlayedExtractor:
    """One extractor, at ``https://{name}.test/extract``. It takes the keys in ``keys``, which were changed so often."""

    def __init__(self, name: str, temper: Temper, chance: random.Random) -> None:
        self.name = name
        self.temper = temper
        self.keys: set[str] = set()
        self.rotations = 0
        self.jobs: dict[UUID, Commission] = {}
        self._chance = chance

    def happens(self, share: float) -> bool:
        """Draw."""
        return self._chance.random() < share

    def travel(self) -> float:
        """Return the seconds that a call to it, or an answer of it, takes."""
        return self._chance.uniform(0.001, 5.0 if self.happens(self.temper.slow) else self.temper.travel)

    def reply(self, asked: Asked, call: Call) -> Answer:
        """Return the answer to a call that arrived."""
        if asked.kind != "download" and asked.key not in self.keys:
            return _answer(self._chance.choice([401, 403]), self._echo(call))
        if self.happens(self.temper.errors):
            return self._error(asked, call)
        match asked.kind:
            case "submit":
                return self._submitted(asked, call)
            case "poll":
                return self._polled(asked, call)
            case "download":
                return self._downloaded(asked)

    def _submitted(self, asked: Asked, call: Call) -> Answer:
        known = self.jobs.get(asked.job_id)
        if known is None and self.happens(self.temper.fatal):
            self.jobs[asked.job_id] = Commission(len(self.jobs), ended="refused")
            return _answer(self._chance.choice([400, 404, 415, 422]), self._echo(call))
        if known is not None and known.ended == "refused":
            return _answer(422, self._echo(call))
        if known is not None:
            return _answer(self._chance.choice([201, 409]), b"{}")
        job = self.jobs[asked.job_id] = Commission(
            len(self.jobs),
            ready_after=self._chance.randint(0, self.temper.polls),
            never=self.happens(self.temper.never),
        )
        if self.happens(self.temper.at_once) and not job.never:
            return _answer(200, self._ready(asked, job))
        wish = {"retry-after": self._chance.choice(["0", "1", "2.5", "soon"])} if self.happens(0.3) else {}
        body = self._chance.choice([b"", b"{}", b'{"isReady": false}', b"<p>thank you</p>"])
        return _answer(201 if body.startswith(b"<") else self._chance.choice([200, 201, 202]), body, wish)

    def _polled(self, asked: Asked, call: Call) -> Answer:
        job = self.jobs.get(asked.job_id)
        if job is None:
            return _answer(404, b"{}")
        job.polls += 1
        if self.happens(self.temper.fatal / 4):
            job.ended = "reported"
            echo = self._echo(call).decode()
            return _answer(200, msgspec.json.encode({"isReady": True, "error": {"code": "E1", "message": echo}}))
        if job.never or job.polls <= job.ready_after:
            return _answer(200, b'{"isReady": false}')
        return _answer(200, self._ready(asked, job))

    def _ready(self, asked: Asked, job: Commission) -> bytes:
        if self.happens(self.temper.by_url):
            url = f"https://{self.name}.test/results/{asked.job_id}?sig=canary-result"
            return msgspec.json.encode({"isReady": True, "resultUrl": url})
        return b'{"isReady": true, "result": ' + self._result(job) + b"}"

    def _result(self, job: Commission) -> bytes:
        if not job.given or self.temper.fickle:
            pages = "x" * self._chance.choice([0, 10, 1000])
            job.given.append(
                b'{"job":%d,  "take": %d, "total": 10.00, "pages": "%s"}' % (job.number, len(job.given), pages.encode())
            )
        return job.given[-1]

    def _downloaded(self, asked: Asked) -> Answer:
        job = self.jobs[asked.job_id]
        if self.happens(self.temper.expired):
            return _answer(self._chance.choice([401, 403, 404, 410]), b"expired")
        return _answer(200, self._result(job))

    def _error(self, asked: Asked, call: Call) -> Answer:
        status = self._chance.choice([500, 502, 503, 408, 429, 200, 200])
        if asked.kind == "download":
            status = max(status, 400)  # whatever comes with a 200 there is the result
        bodies = [self._echo(call), b"<html>busy</html>", b'{"isReady": tr', b"\xff\xfe{", b'["no"]']
        body = self._chance.choice(bodies if status >= 400 else bodies[1:])
        wish = {"retry-after": self._chance.choice(["0", "1", "-1", "99999"])} if self.happens(0.3) else {}
        return _answer(status, body, wish)

    def _echo(self, call: Call) -> bytes:
        """Say back what should never be repeated, in one of the forms that servers use."""
        key = call.api_key.reveal() if call.api_key else "none"
        body = (call.body or b"").decode()
        forms = [key, quote(key, safe=""), base64.b64encode(f"Bearer {key}".encode()).decode(), body, call.url]
        return f"can't do that with {self._chance.choice(forms)}".encode()


def temper_of(chance: random.Random) -> Temper:
    """Return one of many characters: most are decent."""
    bad = chance.choice([0.0, 0.0, 0.05, 0.3])
    return Temper(
        errors=bad,
        fatal=chance.choice([0.0, 0.0, 0.1]),
        lost=chance.choice([0.0, bad / 2]),
        hanging=chance.choice([0.0, 0.0, bad / 2]),
        slow=chance.choice([0.0, 0.05, 0.3]),
        at_once=chance.choice([0.0, 0.0, 0.5]),
        by_url=chance.choice([0.0, 0.5, 1.0]),
        expired=chance.choice([0.0, 0.3]),
        never=chance.choice([0.0, 0.0, 0.2]),
        polls=chance.choice([0, 2, 6]),
        fickle=chance.random() < 0.3,
        travel=chance.choice([0.01, 0.1, 0.4]),
    )


def _answer(status: int, body: bytes, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, "", headers or {}, body)
