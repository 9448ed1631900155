"""Figures, gathered round by round."""

import statistics
import sys
from collections.abc import Callable, Iterable

from bench.children import ChildFailed, Contender
from bench.orders import Result


class Samples:
    """For each contender and metric, one figure a round."""

    def __init__(self) -> None:
        self.figures: dict[str, dict[str, list[float]]] = {}

    def add(self, name: str, result: Result) -> None:
        for metric, figure in result.items():
            self.figures.setdefault(name, {}).setdefault(metric, []).append(figure)

    def of(self, name: str, metric: str) -> list[float]:
        return self.figures.get(name, {}).get(metric, [])

    def ratios(self, name: str, over: str, metric: str) -> list[float]:
        """Round by round: a slow minute of the machine hits both."""
        pairs = zip(self.of(name, metric), self.of(over, metric), strict=False)
        return [own / base for own, base in pairs if base]


def interleave(contenders: Iterable[Contender], rounds: int, measure: Callable[[Contender], Result]) -> Samples:
    """Every contender in turn, again and again. One that fails is named and left out."""
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
    """The smallest figure that at least `part` of all do not exceed."""
    ordered = sorted(figures)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
