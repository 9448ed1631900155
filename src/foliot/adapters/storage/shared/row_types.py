"""What the columns of a row may hold, whatever the database: the types of ours, and numbers that a calendar has.

A database keeps this itself, until somebody has changed its tables, or a row as it is in the file. A shape is a struct
with a field for each column, in order. `read_row` says which column is wrong; `sight` is for what people are shown, and
lets something stand for it.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Protocol, TypeVar

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import fields

from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import EARLIEST, LATEST, Instant
from foliot.domain.run.run import Tick
from foliot.errors import RowUnreadable

S = TypeVar("S", bound=Struct)

Moment = Annotated[int, Meta(ge=EARLIEST, le=LATEST)]
Count = Annotated[int, Meta(ge=0)]
Tries = Annotated[int, Meta(ge=0, le=1_000_000_000)]
"""How often something was tried. Far from what a column can hold: a claim must be able to count on."""


def read_row(shape: type[S], row: Sequence[Any], kind: str, name: object) -> S:
    try:
        return convert(tuple(row), shape)
    except ValidationError:
        found, error = _one_by_one(shape, row, kind, name)
        if error is None:
            return found
        raise error from error.__cause__


def sight(shape: type[S], row: Sequence[Any], kind: str, name: object) -> tuple[S, RowUnreadable | None]:
    """The row, with what is wrong with it, if something is: then nothing stands for a column that may be empty, 0 for
    a number, and for text whatever is there, written out."""
    try:
        return convert(tuple(row), shape), None
    except ValidationError:
        return _one_by_one(shape, row, kind, name)


def _one_by_one(shape: type[S], row: Sequence[Any], kind: str, name: object) -> tuple[S, RowUnreadable | None]:
    values: list[Any] = []
    first: RowUnreadable | None = None
    for field, column in zip(fields(shape), row, strict=True):
        try:
            values.append(convert(column, field.type))
        except ValidationError as error:
            values.append(_stand_in(field.type, column))
            if first is None:
                first = RowUnreadable(kind, written(name), ValueError(f"{field.name}: {error}"))
                first.__cause__ = error
    return shape(*values), first


def _stand_in(kind: Any, column: Any) -> Any:
    try:
        return convert(None, kind)
    except ValidationError:
        return written(column) if getattr(kind, "__supertype__", kind) is str else 0


def written(column: object) -> str:
    """Text, or what is in its place, as people can read and repeat it."""
    return column.decode(errors="backslashreplace") if isinstance(column, bytes) else str(column)


def instant_of(moment: int | None) -> Instant | None:
    return None if moment is None else Instant(moment)


class Ticked(Protocol):
    """A shape with the columns that say which tick a run was made for, if one of ours."""

    @property
    def schedule_uid(self) -> ScheduleUid | None: ...
    @property
    def schedule_id(self) -> ScheduleId | None: ...
    @property
    def scheduled_for(self) -> int | None: ...
    @property
    def tick_key(self) -> str | None: ...


def tick_in(row: Ticked) -> Tick | None:
    if row.schedule_uid is None:
        return None
    if row.schedule_id is None or row.scheduled_for is None or row.tick_key is None:
        raise ValueError("it names a schedule without a moment of it")
    return Tick(row.schedule_uid, row.schedule_id, Instant(row.scheduled_for), row.tick_key)
