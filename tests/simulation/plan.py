"""What a seed means: the settings, who takes part, what happens when. Times are seconds from the beginning."""

import random
from typing import Any, Final, Literal, TypeAlias

import msgspec

Blow: TypeAlias = Literal["kill", "freeze", "restart"]
Act: TypeAlias = Literal["upload", "remote", "again", "poison", "cancel", "retry", "rotate", "purge"]

CALM: Final = "calm"
SKIES: Final[dict[str, frozenset[str]]] = {
    CALM: frozenset(),
    "kills": frozenset({"kill", "restart"}),
    "freezes": frozenset({"freeze"}),
    "errors": frozenset({"errors", "outage"}),
    "clocks": frozenset({"skew", "restart"}),
    "storm": frozenset({"kill", "restart", "freeze", "errors", "outage", "skew"}),
    "late results": frozenset({"freeze", "late"}),
}
"""What can go wrong under each sky. Under a calm one extractors still misbehave."""

DRAWN: Final = ("calm", "kills", "freezes", "errors", "clocks", "storm", "storm")
"""The skies that a seed chooses from."""

POISON: Final = ("garbage", "no client", "no file", "bad id")


class Hit(msgspec.Struct, frozen=True):
    """``blow`` hits a worker (or, beyond the workers, the front desk) some ``steps`` after ``at``, for ``length``."""

    at: float
    worker: int
    blow: Blow
    steps: int
    length: float


class Outage(msgspec.Struct, frozen=True):
    """The database or the disk can't be reached."""

    at: float
    part: Literal["database", "disk"]
    length: float


class Doing(msgspec.Struct, frozen=True):
    """A client or an operator does something; ``number`` picks to whom or what."""

    at: float
    act: Act
    number: int


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One seed's day."""

    seed: int
    sky: str
    settings: dict[str, Any]
    workers: int
    clients: tuple[int, ...]
    skews: tuple[float, ...]
    hits: tuple[Hit, ...]
    outages: tuple[Outage, ...]
    errors: float
    slow: float
    clear_at: float
    doings: tuple[Doing, ...]

    @property
    def calm(self) -> bool:
        """Whether nothing of ours goes wrong."""
        return self.sky == CALM

    @property
    def late(self) -> bool:
        """Whether results take their time and differ from one time to the next."""
        return "late" in SKIES[self.sky]

    @property
    def skew(self) -> float:
        """How far two clocks are apart at the most."""
        return max(self.skews) - min(self.skews)

    def slack(self, jobs: int) -> float:
        """Return the seconds after its deadline (or after the sky cleared) in which a job must have ended.

        A step may take all its timeouts, with another one before it, and one more where there are more jobs than
        slots; what was held by the dead, or backed off from, comes in its time.
        """
        settings = self.settings
        step = 2 * settings["submit_timeout_seconds"] + 3 * settings["poll_timeout_seconds"] + 8.0
        disturbed = 35.0 + settings["lease_seconds"] + 2 * self.skew
        return float(step * (2 + jobs / settings["max_concurrency"]) + (0.0 if self.calm else disturbed))

    def chance(self, purpose: str) -> random.Random:
        """Return the seed's chance for one purpose."""
        return random.Random(f"{self.seed}:{purpose}")


def plan_of(seed: int, *, sky: str | None = None) -> Plan:
    """Return what ``seed`` stands for, under a sky of its own or a given one."""
    chance = random.Random(f"{seed}:plan")
    drawn = chance.choice(DRAWN)
    sky = sky or drawn
    wrong = SKIES[sky]
    workers = chance.randint(1, 3)
    clear_at = chance.uniform(4.0, 12.0)
    skewed = "skew" in wrong
    return Plan(
        seed=seed,
        sky=sky,
        settings=_settings(chance),
        workers=workers,
        clients=tuple(chance.randint(1, 3) for _ in range(chance.randint(1, 2))),
        skews=tuple(chance.uniform(-3.0, 3.0) if skewed else 0.0 for _ in range(workers + 1)),
        hits=_hits(chance, wrong, workers, clear_at),
        outages=_outages(chance, clear_at) if "outage" in wrong else (),
        errors=chance.choice([0.01, 0.05, 0.2]) if "errors" in wrong else 0.0,
        slow=chance.choice([0.0, 0.05]) if wrong else 0.0,
        clear_at=clear_at if wrong else 0.0,
        doings=_doings(chance, clear_at),
    )


def _settings(chance: random.Random) -> dict[str, Any]:
    interval = chance.uniform(0.2, 1.0)
    base = chance.uniform(0.1, 0.5)
    concurrency = chance.choice([4, 8, 32])
    return {
        "max_submit_attempts": chance.randint(1, 5),
        "max_poll_attempts": chance.choice([3, 8, 30]),
        "max_poll_errors": chance.randint(2, 6),
        "submit_timeout_seconds": chance.uniform(1.0, 4.0),
        "poll_timeout_seconds": chance.uniform(1.0, 4.0),
        "poll_interval_seconds": interval,
        "poll_backoff_factor": chance.choice([1.0, 1.5, 2.0]),
        "poll_max_interval_seconds": interval * chance.uniform(1.0, 4.0),
        "retry_base_seconds": base,
        "retry_max_seconds": base * chance.uniform(1.0, 8.0),
        "job_timeout_seconds": chance.choice([6.0, 15.0, 40.0]),
        "lease_seconds": chance.uniform(1.5, 6.0),
        "max_concurrency": concurrency,
        "max_concurrency_per_extractor": chance.choice([None, concurrency]),
        "max_inline_result_bytes": 4096,
        "max_result_bytes": 65536,
    }


def _hits(chance: random.Random, wrong: frozenset[str], workers: int, until: float) -> tuple[Hit, ...]:
    if "late" in wrong:
        return tuple(
            Hit(chance.uniform(0.0, until), chance.randrange(workers), "freeze", chance.randint(1, 60), length)
            for length in (chance.uniform(2.0, 12.0) for _ in range(20))
        )
    blows: list[Blow] = [blow for blow in ("kill", "freeze", "restart") if blow in wrong]  # type: ignore[misc]
    count = chance.randint(1, 6) if blows else 0
    return tuple(
        Hit(
            at=chance.uniform(0.0, until),
            worker=chance.randint(0, workers),
            blow=chance.choice(blows),
            steps=chance.choice([1, chance.randint(1, 30), chance.randint(1, 300)]),
            length=chance.choice([0.0, chance.uniform(0.0, 3.0), chance.uniform(2.0, 20.0)]),
        )
        for _ in range(count)
    )


def _outages(chance: random.Random, until: float) -> tuple[Outage, ...]:
    return tuple(
        Outage(chance.uniform(0.0, until), chance.choice(["database", "database", "disk"]), chance.uniform(0.1, 6.0))
        for _ in range(chance.randint(0, 2))
    )


def _doings(chance: random.Random, until: float) -> tuple[Doing, ...]:
    acts: list[Act] = ["upload"]
    acts += chance.choices(["upload", "upload", "remote"], k=chance.randint(0, 4))
    acts += chance.choices(["again", "poison", "cancel", "retry", "rotate", "purge"], k=chance.randint(0, 6))
    whens = [0.0, *(chance.uniform(0.0, until) for _ in acts[1:])]
    return tuple(Doing(at, act, chance.randrange(1000)) for at, act in zip(whens, acts, strict=True))
