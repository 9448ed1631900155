"""Collects figures, round by round."""

import statistics
import sys
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from bench.children import ChildFailed
from bench.orders import Result


class Named(Protocol):
    """A contender, or one in special circumstances."""

    @property
    def name(self) -> str: ...


AnyContender = TypeVar("AnyContender", bound=Named)


class Samples:
    """One figure per round for each contender and metric."""

    def __init__(self) -> None:
        self.figures: dict[str, dict[str, list[float]]] = {}

    def add(self, name: str, result: Result) -> None:
        for metric, figure in result.items():
            self.figures.setdefault(name, {}).setdefault(metric, []).append(figure)

    def of(self, name: str, metric: str) -> list[float]:
        return self.figures.get(name, {}).get(metric, [])

    def ratios(self, name: str, over: str, metric: str) -> list[float]:
        """Return the ratios round by round: a slow minute of the machine affects both."""
        pairs = zip(self.of(name, metric), self.of(over, metric), strict=False)
        return [own / base for own, base in pairs if base]


def interleave(contenders: Iterable[AnyContender], rounds: int, measure: Callable[[AnyContender], Result]) -> Samples:
    """Measure every contender in turn, round by round. A contender that fails is reported and omitted."""
    samples = Samples()
    running = list(contenders)
    for number in range(1, rounds + 1):
        for contender in list(running):
            try:
                samples.add(contender.name, measure(contender))
            except ChildFailed as failure:
                print(f"left out: {failure}", file=sys.stderr)
                running.remove(contender)
        print(f"  round {number} of {rounds} done", file=sys.stderr)
    return samples


def median(figures: list[float]) -> float:
    return statistics.median(figures)


def percentile(figures: list[float], part: float) -> float:
    """Return the smallest figure that at least `part` of all do not exceed."""
    ordered = sorted(figures)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
