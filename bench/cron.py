"""The next fire of a cron expression: Foliot beside croniter and cronsim, in one process.

The libraries take turns, round by round, so that a noisy machine is noisy for all of them. Each walks 400 fires forward
from 2026-01-01. cronsim has only datetimes, from an iterator, which is faster than asking anew.
"""

from collections.abc import Callable
from datetime import datetime
from time import process_time
from typing import Final
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from bench.places import Places
from bench.samples import Samples
from bench.scale import Scale
from bench.tables import Column, Table
from foliot import cron

_FIRES: Final = 400
_CASES: Final = (
    ("*/5 * * * *", "UTC"),
    ("0 3 * * 1", "UTC"),
    ("0 0 29 2 *", "UTC"),
    ("*/10 * * * * *", "UTC"),
    ("30 2 * * *", "Europe/Berlin"),
    ("*/5 9-17 * * 1-5", "Europe/Berlin"),
    ("0 0 1 * *", "America/New_York"),
)
_COLUMNS: Final = (
    Column("foliot", "Foliot µs", 2),
    Column("croniter", "croniter µs", 1),
    Column("cronsim", "cronsim µs", 1),
    Column("croniter ratio", "croniter / Foliot"),
    Column("cronsim ratio", "cronsim / Foliot"),
    Column("epochs", "Foliot in epoch seconds, µs", 2),
    Column("epochs ratio", "croniter / Foliot, in epoch seconds"),
)

Walk = Callable[[], object]
"""One walk over the fires."""


def measure(places: Places, scale: Scale) -> list[Table]:
    samples = Samples()
    for _ in range(scale.rounds_of(5)):
        for expression, zone in _CASES:
            samples.add(f"`{expression}`, {zone}", _measure(expression, zone))
    note = f"Processor time per fire, {_FIRES} fires in a row, as datetimes unless said otherwise."
    return [Table(title="Cron expressions", note=note, columns=_COLUMNS, samples=samples)]


def _measure(expression: str, zone: str) -> dict[str, float]:
    start = datetime(2026, 1, 1, tzinfo=ZoneInfo(zone))
    foliot = _microseconds(_foliot_walk(expression, zone, start))
    others = {
        "croniter": _microseconds(_croniter_walk(expression, start, datetime)),
        "cronsim": _microseconds(_cronsim_walk(expression, start)),
    }
    epochs = _microseconds(_foliot_epoch_walk(expression, zone, start))
    croniter_epochs = _microseconds(_croniter_walk(expression, start, float))
    return {
        "foliot": foliot,
        **others,
        **{f"{name} ratio": figure / foliot for name, figure in others.items()},
        "epochs": epochs,
        "epochs ratio": croniter_epochs / epochs,
    }


def _microseconds(walk: Walk) -> float:
    began = process_time()
    walk()
    return (process_time() - began) / _FIRES * 1e6


def _foliot_walk(expression: str, zone: str, start: datetime) -> Walk:
    compiled = cron.compile(expression, zone)

    def walk() -> None:
        moment: datetime | None = start
        for _ in range(_FIRES):
            assert moment is not None
            moment = compiled.next(moment)

    return walk


def _foliot_epoch_walk(expression: str, zone: str, start: datetime) -> Walk:
    compiled = cron.compile(expression, zone)
    first = int(start.timestamp())

    def walk() -> None:
        moment: int | None = first
        for _ in range(_FIRES):
            assert moment is not None
            moment = compiled.next_epoch(moment)

    return walk


def _croniter_walk(expression: str, start: datetime, kind: type[datetime] | type[float]) -> Walk:
    iterator = croniter(expression, start, second_at_beginning=True)

    def walk() -> None:
        iterator.set_current(start, force=True)
        for _ in range(_FIRES):
            iterator.get_next(kind)

    return walk


def _cronsim_walk(expression: str, start: datetime) -> Walk:
    def walk() -> None:
        iterator = CronSim(expression, start)
        for _ in range(_FIRES):
            next(iterator)

    return walk
