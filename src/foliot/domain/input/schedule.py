"""From the fields of a request to a schedule: the same words in Python, TOML and HTTP."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar, get_args

from foliot.domain import cron
from foliot.domain.cron import DomDow, Dst
from foliot.domain.ids import JobId
from foliot.domain.input.timing import Moment, Span, instant, millis, number, optional_instant
from foliot.domain.instant import SECOND, Millis, ceil_second
from foliot.domain.schedule import Catchup, Overlap, ScheduleSpec, ScheduleType
from foliot.domain.tick import JitterMode
from foliot.errors import InvalidSchedule, suggest

Word = TypeVar("Word", bound=StrEnum)
Choice = TypeVar("Choice", bound=str)

_CATCHUP_ALIASES = {"fire_immediately": Catchup.ALL, "skip": Catchup.NONE}


def read_schedule(fields: Mapping[str, Any]) -> ScheduleSpec:
    """Read a schedule from named fields. One that does not exist is refused with the one that was probably meant."""
    known = schedule_spec.__kwdefaults__ or {}
    for name in fields:
        if name not in known:
            hint = suggest(name, known, otherwise=f"Use: {', '.join(known)}.")
            raise InvalidSchedule(f"field {name[:64]!a} does not exist", hint=hint, field=name[:64])
    return schedule_spec(**fields)


def schedule_spec(
    *,
    job_id: str | None = None,
    workflow_id: str | None = None,
    version: int | None = None,
    user_id: str | None = None,
    cron_expr: str | None = None,
    interval: Span | None = None,
    at: Moment | None = None,
    manual: bool = False,
    timezone: str | None = None,
    start_at: Moment | None = None,
    end_at: Moment | None = None,
    jitter_ms: int = 0,
    jitter_mode: str = JitterMode.AROUND,
    overlap_policy: str = Overlap.SKIP,
    catchup_policy: str = Catchup.NONE,
    catchup_max_age_sec: float | None = None,
    dst: Dst = "vixie",
    dom_dow: DomDow = "or",
    payload: Any = None,
    source: str = "api",
) -> ScheduleSpec:
    """Read a schedule. Exactly one of cron_expr, interval, at and manual says when it fires."""
    kind, expr = _rule(cron_expr, interval, at, manual)
    return ScheduleSpec(
        type=kind,
        expr=expr,
        job_id=None if job_id is None else JobId(_text(job_id, "job_id")),
        workflow_id=None if workflow_id is None else _text(workflow_id, "workflow_id"),
        version=None if version is None else _whole_number(version, "version"),
        user_id=None if user_id is None else _text(user_id, "user_id"),
        timezone=_timezone(timezone, kind, expr),
        start_at=optional_instant(start_at, "start_at"),
        end_at=optional_instant(end_at, "end_at"),
        jitter=Millis(_whole_number(jitter_ms, "jitter_ms")),
        jitter_mode=_word(JitterMode, jitter_mode, "jitter_mode"),
        overlap=_word(Overlap, overlap_policy, "overlap_policy"),
        catchup=_word(Catchup, _CATCHUP_ALIASES.get(str(catchup_policy), catchup_policy), "catchup_policy"),
        catchup_max_age=None if catchup_max_age_sec is None else millis(catchup_max_age_sec, "catchup_max_age_sec"),
        dst=_choice(dst, get_args(Dst), "dst"),
        dom_dow=_choice(dom_dow, get_args(DomDow), "dom_dow"),
        payload=payload,
        source=source,
    )


def _timezone(timezone: str | None, kind: ScheduleType, expr: str) -> str:
    """The zone that was given, else the one the expression itself names, else UTC."""
    if timezone is not None:
        return _text(timezone, "timezone")
    return cron.compile(expr, key="").timezone if kind is ScheduleType.CRON else "UTC"


def _rule(cron_expr: str | None, interval: Span | None, at: Moment | None, manual: bool) -> tuple[ScheduleType, str]:
    given = [name for name, value in _named(cron_expr, interval, at, manual).items() if value]
    if len(given) != 1:
        raise InvalidSchedule(
            f"a schedule has one rule, not {len(given)}" + (f": {', '.join(given)}" if given else ""),
            hint="Give exactly one of cron_expr, interval, at, manual.",
            field="schedule_expr",
        )
    if cron_expr is not None:
        return ScheduleType.CRON, _text(cron_expr, "cron_expr")
    if interval is not None:
        return ScheduleType.INTERVAL, _whole_seconds(interval)
    if at is not None:
        return ScheduleType.ONCE, str(ceil_second(instant(at, "at")))
    return ScheduleType.MANUAL, ""


def _named(cron_expr: str | None, interval: Span | None, at: Moment | None, manual: bool) -> dict[str, bool]:
    return {
        "cron_expr": cron_expr is not None,
        "interval": interval is not None,
        "at": at is not None,
        "manual": manual,
    }


def _whole_seconds(interval: Span) -> str:
    span = millis(interval, "interval")
    if span < SECOND or span % SECOND:
        raise InvalidSchedule(
            f"an interval is a whole number of seconds, at least 1, not {span / SECOND:g}",
            hint="For more than one run a second, let one run do several things.",
            field="interval",
        )
    return str(span // SECOND)


def _whole_number(value: Any, field: str) -> int:
    if int(number(value, field)) != value:
        raise InvalidSchedule(
            f"{field} must be a whole number, not {value!r}", hint="Leave out the fraction.", field=field
        )
    return int(value)


def _choice(value: Choice, choices: Sequence[str], field: str) -> Choice:
    if value not in choices:
        raise InvalidSchedule(
            f"{field} {str(value)[:32]!a} does not exist", hint=f"Use one of: {', '.join(choices)}.", field=field
        )
    return value


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidSchedule(
            f"{field} must be text, not {type(value).__name__}", hint="Write it in quotes.", field=field
        )
    return value


def _word(kind: type[Word], value: str, field: str) -> Word:
    try:
        return kind(value)
    except ValueError:
        hint = suggest(str(value), kind, otherwise=f"Use one of: {', '.join(kind)}.")
        raise InvalidSchedule(f"{field} {str(value)[:32]!a} does not exist", hint=hint, field=field) from None
