"""From the fields of a request to a schedule: the same words in Python, TOML and HTTP."""

from collections.abc import Mapping
from typing import Any, Final, get_args

from foliot.domain import cron
from foliot.domain.cron import DomDow, Dst
from foliot.domain.ids import JobId
from foliot.domain.input.timing import Moment, Span, instant, millis, optional_instant
from foliot.domain.input.words import flag, one_of, text, whole_number, word_of
from foliot.domain.instant import SECOND, Millis, ceil_second
from foliot.domain.schedule.schedule import Catchup, Overlap, ScheduleSpec, ScheduleType
from foliot.domain.schedule.tick import JitterMode
from foliot.errors import InvalidSchedule, suggest

_PAUSED = ("paused", "enabled")
_ELSEWHERE = (
    "A definition does not say whether it is paused: use app.schedules.pause, or app.schedules.upsert(paused=True)."
)
_CATCHUP_ALIASES = {"fire_immediately": Catchup.ALL, "skip": Catchup.NONE}
_JITTER_MODE = word_of(JitterMode, InvalidSchedule)
_OVERLAP = word_of(Overlap, InvalidSchedule)
_CATCHUP = word_of(Catchup, InvalidSchedule)
_DST = get_args(Dst)
_DOM_DOW = get_args(DomDow)


def read_schedule(fields: Mapping[str, Any], *, source: str = "api") -> ScheduleSpec:
    """Read a schedule from named fields. One that does not exist is refused with the one that was probably meant.

    None is the same as leaving a field out. The source is who owns it, which is not for its fields to say.
    """
    for name in fields:
        if name not in _KNOWN:
            hint = _ELSEWHERE if name in _PAUSED else suggest(name, _KNOWN, otherwise=f"Use: {', '.join(_KNOWN)}.")
            raise InvalidSchedule(f"field {name[:64]!a} does not exist", hint=hint, field=name[:64])
    return schedule_spec(source=source, **{name: value for name, value in fields.items() if value is not None})


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
        job_id=None if job_id is None else JobId(text(job_id, "job_id", InvalidSchedule)),
        workflow_id=None if workflow_id is None else text(workflow_id, "workflow_id", InvalidSchedule),
        version=None if version is None else whole_number(version, "version", InvalidSchedule),
        user_id=None if user_id is None else text(user_id, "user_id", InvalidSchedule),
        timezone=_timezone(timezone, kind, expr),
        start_at=optional_instant(start_at, "start_at"),
        end_at=optional_instant(end_at, "end_at"),
        jitter=Millis(whole_number(jitter_ms, "jitter_ms", InvalidSchedule)),
        jitter_mode=_JITTER_MODE(jitter_mode, "jitter_mode"),
        overlap=_OVERLAP(overlap_policy, "overlap_policy"),
        catchup=_catchup(catchup_policy, "catchup_policy"),
        catchup_max_age=None if catchup_max_age_sec is None else millis(catchup_max_age_sec, "catchup_max_age_sec"),
        dst=one_of(_DST, dst, "dst", InvalidSchedule),
        dom_dow=one_of(_DOM_DOW, dom_dow, "dom_dow", InvalidSchedule),
        payload=payload,
        source=source,
    )


_KNOWN: Final = tuple(name for name in schedule_spec.__kwdefaults__ or () if name != "source")


def _catchup(value: Any, name: str) -> Catchup:
    alias = _CATCHUP_ALIASES.get(value) if isinstance(value, str) else None
    return alias or _CATCHUP(value, name)


def _timezone(timezone: str | None, kind: ScheduleType, expr: str) -> str:
    """The zone that was given, else the one the expression itself names, else UTC."""
    if timezone is not None:
        return text(timezone, "timezone", InvalidSchedule)
    # Not compiled: what H draws depends on the name of the schedule, and what it draws may be what makes it possible.
    return cron.zone_of(expr) if kind is ScheduleType.CRON else "UTC"


def _rule(cron_expr: str | None, interval: Span | None, at: Moment | None, manual: bool) -> tuple[ScheduleType, str]:
    flag(manual, "manual", InvalidSchedule)
    if (cron_expr is not None) + (interval is not None) + (at is not None) + manual != 1:
        given = [name for name, value in _named(cron_expr, interval, at, manual).items() if value]
        raise InvalidSchedule(
            f"a schedule has one rule, not {len(given)}" + (f": {', '.join(given)}" if given else ""),
            hint="Give exactly one of cron_expr, interval, at, manual.",
            field="schedule_expr",
        )
    if cron_expr is not None:
        return ScheduleType.CRON, text(cron_expr, "cron_expr", InvalidSchedule)
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
