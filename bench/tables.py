"""The output: Markdown for people, JSON for later comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.samples import Samples, median


@dataclass(frozen=True, slots=True)
class Column:
    metric: str
    heading: str
    digits: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One contender over another. Exactly one target may be given."""

    name: str
    over: str
    metric: str
    at_least: float | None = None
    at_most: float | None = None
    digits: int = 2

    def is_met(self, found: float) -> bool | None:
        if self.at_least is not None:
            return found >= self.at_least
        return None if self.at_most is None else found <= self.at_most

    @property
    def target(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return "–" if self.at_most is None else f"≤ {self.at_most:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One measurement: a row per contender, a column per metric, and ratios."""

    title: str
    note: str
    columns: Sequence[Column]
    samples: Samples
    ratios: Sequence[Ratio] = ()
    limits: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Absolute targets: the maximum of (contender, metric)."""

    def to_markdown(self) -> str:
        parts = [self.note, self._figures()]
        if self.ratios or self.limits:
            parts.append(self._targets())
        return "\n\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "markdown": self.to_markdown(), "figures": self.samples.figures}

    def _figures(self) -> str:
        head = ["", *(column.heading for column in self.columns)]
        rows = [[name, *(self._cell(name, column) for column in self.columns)] for name in self.samples.figures]
        return _grid([head, *rows])

    def _cell(self, name: str, column: Column) -> str:
        return _spread(self.samples.of(name, column.metric), column.digits)

    def _targets(self) -> str:
        head = ["ratio", "found", "target", ""]
        return _grid([head, *map(self._ratio, self.ratios), *(self._limit(*limit) for limit in self.limits.items())])

    def _ratio(self, ratio: Ratio) -> list[str]:
        label = f"{ratio.name} / {ratio.over}, {self._heading(ratio.metric)}"
        found = self.samples.ratios(ratio.name, ratio.over, ratio.metric)
        is_met = ratio.is_met(median(found)) if found else None
        return [label, _spread(found, ratio.digits), ratio.target, _verdict(is_met)]

    def _limit(self, which: tuple[str, str], limit: float) -> list[str]:
        found = self.samples.of(*which)
        is_met = median(found) <= limit if found else None
        return [f"{which[0]}, {self._heading(which[1])}", _spread(found, 2), f"≤ {limit:g}", _verdict(is_met)]

    def _heading(self, metric: str) -> str:
        return next((column.heading for column in self.columns if column.metric == metric), metric)


def _spread(figures: list[float], digits: int) -> str:
    if not figures:
        return "–"
    middle, low, high = (f"{figure:,.{digits}f}" for figure in (median(figures), min(figures), max(figures)))
    return middle if low == high else f"{middle} [{low} to {high}]"


def _verdict(is_met: bool | None) -> str:
    return {None: "", True: "met", False: "**missed**"}[is_met]


def _grid(rows: Sequence[Sequence[str]]) -> str:
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, f"|{'---|' * len(rows[0])}", *body])
