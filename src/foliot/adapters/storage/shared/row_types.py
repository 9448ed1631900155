"""Column types, and decoding of a row into a struct with one field per column.

The databases enforce these types with constraints, until a person changes a table or edits the file. `read_row` raises
an error that names the invalid column. `salvage_row` is for display: it replaces an invalid column by a placeholder.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Protocol, TypeVar

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import fields

from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.instant import EARLIEST, LATEST, Instant
from foliot.domain.run.run import Tick
from foliot.errors import RowUnreadable

S = TypeVar("S", bound=Struct)

Moment = Annotated[int, Meta(ge=EARLIEST, le=LATEST)]
Count = Annotated[int, Meta(ge=0)]
MOST_TRIES: Final = 1_000_000_000
Tries = Annotated[int, Meta(ge=0, le=MOST_TRIES)]
"""A number of attempts. Far below the maximum of the column: a claim must be able to add one."""


def read_row(shape: type[S], row: Sequence[Any], kind: str, name: object) -> S:
    try:
        return convert(tuple(row), shape)
    except ValidationError:
        found, error = _one_by_one(shape, row, kind, name)
        if error is None:
            return found
        raise error from error.__cause__


def salvage_row(shape: type[S], row: Sequence[Any], kind: str, name: object) -> tuple[S, RowUnreadable | None]:
    """Return the row, and the error if a column is invalid.

    An invalid column becomes None if it may be NULL, its text if it is text, and else 0.
    """
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
            values.append(_placeholder(field.type, column))
            if first is None:
                first = RowUnreadable(kind, as_text(name), ValueError(f"{field.name}: {error}"))
                first.__cause__ = error
    return shape(*values), first


def _placeholder(kind: Any, column: Any) -> Any:
    try:
        return convert(None, kind)
    except ValidationError:
        return as_text(column) if getattr(kind, "__supertype__", kind) is str else 0


def as_text(column: object) -> str:
    """Return a column as text that can be shown."""
    return column.decode(errors="backslashreplace") if isinstance(column, bytes) else str(column)


def instant_of(moment: int | None) -> Instant | None:
    return None if moment is None else Instant(moment)


class HasTick(Protocol):
    """A struct with the columns that identify the tick of a run."""

    @property
    def schedule_uid(self) -> ScheduleUid | None: ...
    @property
    def schedule_id(self) -> ScheduleId | None: ...
    @property
    def scheduled_for(self) -> int | None: ...
    @property
    def tick_key(self) -> str | None: ...


def tick_in(row: HasTick) -> Tick | None:
    if row.schedule_uid is None:
        return None
    if row.schedule_id is None or row.scheduled_for is None or row.tick_key is None:
        raise ValueError("it names a schedule without a tick")
    return Tick(row.schedule_uid, row.schedule_id, Instant(row.scheduled_for), row.tick_key)
