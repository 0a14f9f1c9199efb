"""Durations and sizes as distributions: told on the event loop, gathered at a scrape.

``telemetry.Facts`` keeps one ``Distributions`` for each measure. Prometheus' own histograms take two locks and a walk
along the classes for each value, which was a twentieth of a poll's CPU; one thread tells here, so none is needed.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from math import inf
from typing import Final

import msgspec
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

PREFIX: Final = "fluxx_"
"""What every metric's name begins with."""


class Measure(msgspec.Struct, frozen=True):
    """A duration (seconds) or size worth a distribution: a Prometheus histogram."""

    name: str
    wording: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Distribution:
    """How many values came in each class, and their sum."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Add one value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def into(self, family: HistogramMetricFamily, labels: tuple[str, ...]) -> None:
        """Put it among the others of its measure."""
        counts = zip(map(floatToGoString, (*self._bounds, inf)), accumulate(self._counts), strict=True)
        family.add_metric(labels, list(counts), self._sum)


class Distributions(Collector):
    """The distributions of one measure, by the values of its labels, as a scrape wants them."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._by_labels: dict[tuple[str, ...], Distribution] = {}

    def of(self, labels: tuple[str, ...]) -> Distribution:
        """Return the one of these values of the labels; it is empty at first."""
        found = self._by_labels.get(labels)
        if found is None:
            found = self._by_labels[labels] = Distribution(self._measure.buckets)
        return found

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """See ``Collector.collect``."""
        measure = self._measure
        family = HistogramMetricFamily(PREFIX + measure.name, measure.wording, labels=measure.labels)
        for labels, distribution in tuple(self._by_labels.items()):
            distribution.into(family, labels)
        yield family
