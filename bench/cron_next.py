"""How long the next fire of a cron expression takes: Foliot beside croniter and cronsim, in one process.

    python bench/cron_next.py            # 9 rounds
    python bench/cron_next.py --rounds 3

The libraries take turns, round by round, so that a noisy machine is noisy for all of them, and the best round counts.
Each walks 400 fires forward from 2026-01-01, in its own fastest way: croniter and cronsim with an iterator.
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
    expression: str
    zone: str
    foliot: float
    croniter: float
    cronsim: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds: int = parser.parse_args().rounds
    print(f"{'expression':18} {'zone':18} {'foliot':>9} {'croniter':>9} {'cronsim':>9} {'ratios':>13}")
    for expression, zone in CASES:
        row = measure(expression, zone, rounds)
        times = f"{row.foliot:6.2f} µs {row.croniter:6.1f} µs {row.cronsim:6.1f} µs"
        print(f"{expression:18} {zone:18} {times} {row.croniter / row.foliot:6.0f} {row.cronsim / row.foliot:6.0f}")


def measure(expression: str, zone: str, rounds: int) -> Row:
    start = datetime(2026, 1, 1, tzinfo=ZoneInfo(zone))
    walks = (foliot_walk(expression, zone, start), croniter_walk(expression, start), cronsim_walk(expression, start))
    times: list[list[float]] = [[], [], []]
    for _ in range(rounds):
        for walk, taken in zip(walks, times, strict=True):
            taken.append(timed(walk))
    foliot, by_croniter, by_cronsim = (min(taken) / FIRES * 1e6 for taken in times)
    return Row(expression, zone, foliot, by_croniter, by_cronsim)


def timed(walk: Walk) -> float:
    begin = perf_counter()
    walk()
    return perf_counter() - begin


def foliot_walk(expression: str, zone: str, start: datetime) -> Walk:
    compiled = cron.compile(expression, zone)
    first = int(start.timestamp())

    def walk() -> None:
        moment: int | None = first
        for _ in range(FIRES):
            assert moment is not None
            moment = compiled.next_epoch(moment)

    return walk


def croniter_walk(expression: str, start: datetime) -> Walk:
    iterator = croniter(expression, start, second_at_beginning=True)

    def walk() -> None:
        iterator.set_current(start, force=True)
        for _ in range(FIRES):
            iterator.get_next(float)

    return walk


def cronsim_walk(expression: str, start: datetime) -> Walk:
    def walk() -> None:
        iterator = CronSim(expression, start)
        for _ in range(FIRES):
            next(iterator)

    return walk


if __name__ == "__main__":
    main()
