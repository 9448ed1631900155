"""Encode values as JSON documents in columns, and decode them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from foliot.domain.job.job import MAX_CAPACITY, JobSpec, Options, options_in
from foliot.domain.run.limits import Limit
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.schedule.schedule import ScheduleSpec, check_times
from foliot.domain.workflow.spec import HIDDEN_SOURCES
from foliot.errors import InvalidSchedule, RowUnreadable

S = TypeVar("S")
T = TypeVar("T")

_ENCODE: Final = msgspec.json.Encoder().encode
_JOB_SPEC: Final = msgspec.json.Decoder(JobSpec)
_SCHEDULE_SPEC: Final = msgspec.json.Decoder(ScheduleSpec)
_LIMITS: Final = msgspec.json.Decoder(list[Limit])
_NAMES: Final = msgspec.json.Decoder(tuple[str, ...])
_OVERRIDES: Final = msgspec.json.Decoder(dict[str, Any])
_ANY: Final = msgspec.json.Decoder()


def encode(value: object) -> str:
    return _ENCODE(value).decode()


def read_column(read: Callable[[S], T], column: S, kind: str, name: object) -> T:
    """Decode a column of the named row. Raises `RowUnreadable` for a value that this program does not write."""
    try:
        return read(column)
    except UNREADABLE as error:
        raise RowUnreadable(kind, name, error) from error


def read_number(value: object, kind: str, name: str) -> int:
    """Return the number in a row that must exist, such as a setting."""
    return read_column(_number, value, kind, name)


def _number(value: object) -> int:
    match value:
        case None:
            raise ValueError("it is missing")
        case int() | str():
            return int(value)
    raise TypeError(f"{value!r} is not a number")


def decode(document: str | bytes | None) -> Any:
    """Decode a payload, an output or the items of an event. None without a document."""
    return None if document is None else _ANY.decode(document)


def decode_job_spec(document: str) -> JobSpec:
    return _JOB_SPEC.decode(document)


def decode_schedule_spec(document: str) -> ScheduleSpec:
    spec = _SCHEDULE_SPEC.decode(document)
    try:
        check_times(spec)
    except InvalidSchedule as error:
        raise ValueError(error.message) from None
    return spec


def check_overrides(document: str | bytes | None) -> None:
    """Raise if the document is not valid as overrides of a run."""
    if document is not None:
        msgspec.convert(options_in(_OVERRIDES.decode(document)), Options)


def read_overrides(document: str | bytes | None, run_id: object) -> bytes | None:
    """Return the overrides of one run as JSON, or None. Raises `RowUnreadable` if they cannot be read."""
    read_column(check_overrides, document, "run", run_id)
    return document.encode() if isinstance(document, str) else document


def encode_limits(limits: Sequence[Limit]) -> str | None:
    """Return [[key, capacity], ...] as JSON, or None for a run without limits."""
    return encode(limits) if limits else None


def decode_limits(document: str | None) -> list[Limit]:
    if document is None:
        return []
    limits = _LIMITS.decode(document)
    are_distinct = 0 < len({limit.key for limit in limits}) == len(limits)
    if not are_distinct or not all(1 <= limit.capacity <= MAX_CAPACITY for limit in limits):
        raise ValueError("it is not a list of limits")
    return limits


def limit_keys(document: str | None) -> tuple[str, ...]:
    return tuple(limit.key for limit in decode_limits(document))


def are_limits(document: str) -> bool:
    """Whether the document is a list of limits that a run can wait for."""
    try:
        decode_limits(document)
    except UNREADABLE:
        return False
    return True


def encode_names(names: Iterable[str]) -> str:
    return encode(list(names))


def decode_names(document: str) -> tuple[str, ...]:
    return _NAMES.decode(document)


def as_stored_job(spec: JobSpec) -> JobSpec:
    """Return the specification as it will be read back: a tuple becomes a list, which is not a change."""
    return decode_job_spec(encode(spec))


def counted_as(spec: JobSpec) -> bool | None:
    """Return whether a job is counted as an enabled or a disabled one. None: lists leave it out."""
    return None if spec.source in HIDDEN_SOURCES else spec.enabled


def as_stored_schedule(spec: ScheduleSpec) -> ScheduleSpec:
    """Return the specification as it will be read back; only a payload and options can differ."""
    return spec if spec.payload is None and not spec.options else decode_schedule_spec(encode(spec))


def storable(text: str | None) -> str | None:
    """Escape characters that a database cannot store: NUL, and lone surrogates from undecodable output."""
    if text is None:
        return None
    plain = text.replace("\0", "\\0")
    return plain if plain.isascii() else plain.encode("utf-8", "backslashreplace").decode()
