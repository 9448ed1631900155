"""How long the next fire of a cron expression takes: Foliot beside croniter and cronsim, in one process.

    python bench/cron_next.py            # 9 rounds
    python bench/cron_next.py --rounds 3

The libraries take turns, round by round, so that a noisy machine is noisy for all of them, and the best round counts.
Each walks 400 fires forward from 2026-01-01. Foliot and croniter give datetimes, then epoch seconds; cronsim has only
datetimes, from an iterator, which is faster than asking anew.
"""

import argparse
from collections.abc import Callable
from datetime import datetime
from time import perf_counter
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from foliot import cron

FIRES: Final = 400
CASES: Final = (
    ("*/5 * * * *", "UTC"),
    ("0 3 * * 1", "UTC"),
    ("0 0 29 2 *", "UTC"),
    ("*/10 * * * * *", "UTC"),
    ("30 2 * * *", "Europe/Berlin"),
    ("30 2 * * *", "America/New_York"),
    ("*/5 9-17 * * 1-5", "Europe/Berlin"),
    ("0 0 1 * *", "America/New_York"),
)

Walk = Callable[[], object]
"""One walk over FIRES fires."""


class Row(NamedTuple):
    """Microseconds a fire."""

    foliot: float
    croniter: float
    cronsim: float
    foliot_epochs: float
    croniter_epochs: float

    def __str__(self) -> str:
        by_croniter, by_cronsim = self.croniter / self.foliot, self.cronsim / self.foliot
        in_datetimes = (
            f"{self.foliot:6.2f} {self.croniter:8.1f} {self.cronsim:8.1f} {by_croniter:6.0f} {by_cronsim:6.0f}"
        )
        in_epochs = f"{self.foliot_epochs:6.2f} {self.croniter_epochs:8.1f}"
        return f"{in_datetimes}   {in_epochs} {self.croniter_epochs / self.foliot_epochs:6.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds: int = parser.parse_args().rounds
    print(f"{'':37} {'µs a fire as datetime':>24} {'ratios':>13}   {'as epoch':>15} {'ratio':>6}")
    libraries = f"{'foliot':>6} {'croniter':>8} {'cronsim':>8} {'':13}   {'foliot':>6} {'croniter':>8}"
    print(f"{'expression':18} {'zone':18} {libraries}")
    for expression, zone in CASES:
        print(f"{expression:18} {zone:18} {measure(expression, zone, rounds)}")


def measure(expression: str, zone: str, rounds: int) -> Row:
    start = datetime(2026, 1, 1, tzinfo=ZoneInfo(zone))
    walks = (
        foliot_walk(expression, zone, start),
        croniter_walk(expression, start, datetime),
        cronsim_walk(expression, start),
        foliot_epoch_walk(expression, zone, start),
        croniter_walk(expression, start, float),
    )
    times: list[list[float]] = [[] for _ in walks]
    for _ in range(rounds):
        for walk, taken in zip(walks, times, strict=True):
            taken.append(timed(walk))
    return Row._make(min(taken) / FIRES * 1e6 for taken in times)


def timed(walk: Walk) -> float:
    begin = perf_counter()
    walk()
    return perf_counter() - begin


def foliot_walk(expression: str, zone: str, start: datetime) -> Walk:
    compiled = cron.compile(expression, zone)

    def walk() -> None:
        moment: datetime | None = start
        for _ in range(FIRES):
            assert moment is not None
            moment = compiled.next(moment)

    return walk


def foliot_epoch_walk(expression: str, zone: str, start: datetime) -> Walk:
    compiled = cron.compile(expression, zone)
    first = int(start.timestamp())

    def walk() -> None:
        moment: int | None = first
        for _ in range(FIRES):
            assert moment is not None
            moment = compiled.next_epoch(moment)

    return walk


def croniter_walk(expression: str, start: datetime, kind: type[datetime] | type[float]) -> Walk:
    iterator = croniter(expression, start, second_at_beginning=True)

    def walk() -> None:
        iterator.set_current(start, force=True)
        for _ in range(FIRES):
            iterator.get_next(kind)

    return walk


def cronsim_walk(expression: str, start: datetime) -> Walk:
    def walk() -> None:
        iterator = CronSim(expression, start)
        for _ in range(FIRES):
            next(iterator)

    return walk


if __name__ == "__main__":
    main()
