"""A caller may burst, then has to keep to its rate; the memory of callers is bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.access.rates import BURST_SECONDS, LARGEST, Rates


class Seconds:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_let_through_and_then_the_rate_holds() -> None:
    seconds = Seconds()
    rates = Rates(2, now=seconds)
    assert [rates.wait("a") for _ in range(int(2 * BURST_SECONDS))] == [0.0] * 20
    assert rates.wait("a") == pytest.approx(0.5)
    seconds.now += 0.5
    assert rates.wait("a") == 0.0
    assert rates.wait("a") == pytest.approx(0.5)


def test_one_caller_uses_up_nobody_elses() -> None:
    rates = Rates(1, now=Seconds())
    while not rates.wait("greedy"):
        pass
    assert rates.wait("modest") == 0.0


def test_a_slow_rate_still_lets_one_through() -> None:
    seconds = Seconds()
    rates = Rates(0.01, now=seconds)
    assert rates.wait("a") == 0.0
    assert rates.wait("a") == pytest.approx(100)
    seconds.now += 100
    assert rates.wait("a") == 0.0


def test_the_quietest_are_forgotten_first() -> None:
    rates = Rates(0.01, now=Seconds())
    rates.wait("first")
    for number in range(LARGEST):
        rates.wait(str(number))
    assert rates.wait("first") == 0.0
    assert rates.wait(str(LARGEST - 1)) > 0


@given(
    rate=st.floats(0.001, 1e6),
    pauses=st.lists(st.floats(0, 100), max_size=60),
)
def test_never_more_than_burst_and_rate_allow(rate: float, pauses: list[float]) -> None:
    seconds = Seconds()
    rates = Rates(rate, now=seconds)
    let_through = 0
    for pause in pauses:
        seconds.now += pause
        let_through += rates.wait("a") == 0.0
    assert let_through <= max(1, rate * BURST_SECONDS) + rate * sum(pauses) + 1
