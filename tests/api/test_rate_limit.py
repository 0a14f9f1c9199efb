"""Who asks too often is told when to come again, and takes nothing from others."""

from pathlib import Path

import pytest

from fluxx.api.access.callers import Role
from fluxx.errors import Misconfigured
from fluxx.settings import load
from support.access import known, setting
from support.problems import problem_of
from support.service import house

GREEDY, MODEST = known(Role.READ, name="greedy"), known(Role.READ, name="modest")


async def test_each_caller_has_its_own_limit(tmp_path: Path) -> None:
    keys = setting(GREEDY, MODEST)
    async with house(tmp_path, roles=frozenset({"jobs"}), api_keys=keys, rate_limit_per_second=0.5) as fluxx:
        answers = [await fluxx.http.get("/extractor/jobs", headers=GREEDY.headers) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]
        problem_of(answers[-1], 429)
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 2
        assert answers[-1].headers["cache-control"] == "no-store"
        for _ in range(6):
            await fluxx.http.get("/extractor/jobs", headers={"X-Api-Key": "guessed"})
        problem_of(await fluxx.http.get("/extractor/jobs", headers={"X-Api-Key": "guessed"}), 429)
        problem_of(await fluxx.http.get("/healthz"), 429)
        assert (await fluxx.http.get("/extractor/jobs", headers=MODEST.headers)).status_code == 200


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "often"])
def test_a_limit_that_makes_no_sense_is_refused(value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RATE_LIMIT_PER_SECOND", value)
    with pytest.raises(Misconfigured, match="RATE_LIMIT_PER_SECOND"):
        load()
