"""From one step of a workflow to the next, in bare commits of the same disk, measured in the same process."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Final

from bench.children import Contender, run
from bench.orders import Result
from bench.places import Database, Places
from bench.roster import on_uvloop
from bench.samples import interleave
from bench.scale import Scale
from bench.second_process import second_process
from bench.tables import Column, Table

_COLUMNS: Final = (
    Column("step", "ms a step", 2),
    Column("commit", "ms a bare commit", 2),
    Column("commits", "bare commits a step", 1),
)
_SQLITE: Final = Contender(name="Foliot SQLite", module="foliot_workflows", database=Database.SQLITE, operation="chain")
_POSTGRES: Final = replace(_SQLITE, name="Foliot PostgreSQL", database=Database.POSTGRES)
_AIM: Final = 5


@dataclass(frozen=True, slots=True)
class _Row:
    """A contender and its workflow."""

    contender: Contender
    steps: int
    is_watched: bool = False

    @property
    def name(self) -> str:
        shape = f"{self.steps:,} wide, then one" if self.contender.operation == "wide" else f"{self.steps} in a row"
        return f"{self.contender.name}, {shape}{', a second process reads' if self.is_watched else ''}"


def measure(places: Places, scale: Scale) -> list[Table]:
    steps, width = scale.pick(40, 20), scale.pick(1_000, 200)
    rows = [
        _Row(_SQLITE, steps),
        _Row(on_uvloop(_SQLITE), steps),
        _Row(_SQLITE, steps, is_watched=True),
        _Row(replace(_SQLITE, operation="wide"), width),
        _Row(_POSTGRES, steps),
        _Row(on_uvloop(_POSTGRES), steps),
        _Row(replace(_POSTGRES, operation="wide"), width),
    ]
    samples = interleave(rows, scale.rounds_of(3), lambda row: _measure(row, places, scale))
    note = (
        "Steps are functions that do nothing; scheduler, coordinator and worker in one process. A step counts from its "
        "start to the start of the next; in a wide workflow, from the start of the first to the start of the last, "
        f"divided by the steps. A bare commit inserts one row. {scale.durability}."
    )
    limits = {(_Row(each, steps).name, "commits"): _AIM for each in (_SQLITE, _POSTGRES)}
    return [Table(title="Steps of a workflow", note=note, columns=_COLUMNS, samples=samples, limits=limits)]


def _measure(row: _Row, places: Places, scale: Scale) -> Result:
    contender = row.contender
    with places.fresh(contender.database) as (place, marks):
        order = contender.order(place, marks, scale, row.steps)
        with second_process(order) if row.is_watched else nullcontext():
            return run(contender, contender.operation, order)
