"""A schedule: a rule that determines when a job or a workflow is started.

Editing a schedule opens a *revision*. A revision applies to the planned moments after it was opened, up to and
including the moment at which the next one was opened. So a moment that has been decided is never decided again by
another rule.
"""

from collections.abc import Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from foliot.domain import cron
from foliot.domain.cron import Cron, DomDow, Dst
from foliot.domain.cron.interval import Interval
from foliot.domain.ids import JobId, ScheduleId, ScheduleUid
from foliot.domain.instant import DAY, EARLIEST, HOUR, LATEST, SECOND, Instant, Millis, ceil_second, to_iso
from foliot.domain.job.job import Options, check_name, overlay
from foliot.domain.schedule.rule import NEVER, Every, Once, Rule, calendar
from foliot.domain.schedule.tick import JitterMode, jitter_offset, tick_key
from foliot.errors import InvalidInput, InvalidSchedule

MAX_INTERVAL: Final = Millis(10 * 366 * DAY)
MAX_JITTER: Final = Millis(24 * HOUR)
MAX_AGE: Final = Millis(10 * 366 * DAY)
MAX_VERSION: Final = (1 << 31) - 1
MAX_USER_ID: Final = 200
_PERIOD_SAMPLES: Final = 64
BEGINNING_OF_TIME: Final = Instant(0)
"""Used as the current time to check whether a schedule could ever have fired."""
_EXPIRING_FIELDS: Final = ("end_at", "schedule_expr")
"""Fields that may become invalid merely because time has passed."""


class ScheduleType(StrEnum):
    ONCE = "once"
    INTERVAL = "interval"
    CRON = "cron"
    MANUAL = "manual"
    REBOOT = "reboot"
    """Once after each boot of a host that runs a scheduler."""


UNPLANNED: Final = frozenset({ScheduleType.MANUAL, ScheduleType.REBOOT})
"""Types of schedules without planned times. They never expire."""


class Overlap(StrEnum):
    """What a tick does while an earlier run of its schedule has not ended."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_RUNNING = "cancel_running"


class Catchup(StrEnum):
    """What becomes of ticks that were due while no scheduler was running."""

    NONE = "none"
    ONCE = "once"
    ALL = "all"
    SPREAD = "spread"


class ScheduleSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The definition of a schedule. `expr` is a cron expression, a number of seconds or an instant, by `type`."""

    type: ScheduleType
    expr: str = ""
    job_id: JobId | None = None
    workflow_id: str | None = None
    version: int | None = None
    user_id: str | None = None
    timezone: str = "UTC"
    start_at: Instant | None = None
    end_at: Instant | None = None
    anchor: Instant | None = None
    jitter: Millis = Millis(0)
    jitter_mode: JitterMode = JitterMode.AROUND
    overlap: Overlap = Overlap.SKIP
    catchup: Catchup = Catchup.NONE
    catchup_max_age: Millis | None = None
    skip_if_successful: bool = False
    """Skip a tick if another run of its job has succeeded since the planned moment before it."""
    dst: Dst = "vixie"
    dom_dow: DomDow = "or"
    payload: Any = None
    enabled: bool = True
    """If False, its ticks are skipped. A pause is a state of a schedule, not part of its definition."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options for the runs of this schedule, over those of its job, in the form that `domain.job.job.overlay` takes."""
    source: str = "api"
    seed: str = ""
    """The name that H and jitter are derived from, if it is not the schedule's id: the id it had before a rename."""

    @property
    def early(self) -> Millis:
        """The longest time by which a tick may fire before its planned moment."""
        return self.jitter if self.jitter_mode is JitterMode.AROUND else Millis(0)

    @property
    def target(self) -> JobId:
        """The id of the job or workflow to start. Both share one namespace."""
        return JobId(self.job_id or self.workflow_id or "")

    @property
    def depends_on_id(self) -> bool:
        """Whether the planned moments depend on the schedule's id."""
        return self.type is ScheduleType.CRON and cron.is_hashed(self.expr)


class Revision(NamedTuple):
    number: int
    opened_at: Instant
    spec: ScheduleSpec


class Pause(NamedTuple):
    """Moments after `since`, up to and including `until`, do not fire. None: still paused."""

    since: Instant
    until: Instant | None
    decided_until: Instant | None = None
    """Moments up to this one may have been decided before the pause began: they may have any outcome."""
    recorded_until: Instant | None = None
    """Moments up to this one may have been recorded as paused before the pause was shortened."""

    def includes(self, moment: Instant) -> bool:
        return self.since < moment <= (self.until or LATEST)


class Schedule(Struct, frozen=True, gc=False):
    """A stored schedule. `settled_until`: every planned moment up to and including it is in the ledger or planned."""

    uid: ScheduleUid
    id: ScheduleId
    project: str
    version: int
    revision: Revision
    enabled: bool
    paused_at: Instant | None
    created_at: Instant
    updated_at: Instant
    settled_until: Instant
    next_run_at: Instant | None
    wake_at: Instant | None
    last_scheduled_at: Instant | None
    behind_since: Instant | None = None
    ledger_from: Instant | None = None
    """Retention has removed ticks before this moment."""
    is_unreadable: bool = False
    """Its row cannot be read, and it does not fire. The other fields come from its current revision."""


def rule_of(spec: ScheduleSpec, schedule_id: ScheduleId) -> Rule:
    """Return the rule of a specification."""
    match spec.type:
        case ScheduleType.CRON:
            return calendar(compiled(spec, schedule_id))
        case ScheduleType.INTERVAL:
            return Every(interval_of(spec), spec.anchor or Instant(0))
        case ScheduleType.ONCE:
            return Once(Instant(int(spec.expr)))
        case ScheduleType.MANUAL | ScheduleType.REBOOT:
            return NEVER


def first_fire(spec: ScheduleSpec, schedule_id: ScheduleId, now: Instant) -> Instant | None:
    """Return the first planned moment of a schedule created now, or None."""
    moment = rule_of(spec, schedule_id).next(_before_start(spec, now))
    return moment if moment is not None and moment <= (spec.end_at or LATEST) else None


def _before_start(spec: ScheduleSpec, now: Instant) -> Instant:
    return now if spec.start_at is None else Instant(max(now, spec.start_at - 1))


def compiled(spec: ScheduleSpec, schedule_id: ScheduleId) -> Cron:
    """Return the compiled expression of a cron schedule. Schedules with equal expressions share one object."""
    return cron.compile(spec.expr, spec.timezone, dst=spec.dst, dom_dow=spec.dom_dow, key=spec.seed or schedule_id)


def interval_of(spec: ScheduleSpec) -> Millis:
    return Millis(int(spec.expr) * SECOND)


def anchored(spec: ScheduleSpec, now: Instant, before: ScheduleSpec | None = None) -> ScheduleSpec:
    """Return the specification with the anchor of its interval set: `start_at`, else that of an equal earlier rule,
    else derived from now. A renamed schedule keeps the seed of its earlier rule.
    """
    if before is not None and before.seed and not spec.seed:
        spec = replace(spec, seed=before.seed)
    if spec.type is not ScheduleType.INTERVAL or spec.anchor is not None:
        return spec
    if spec.start_at is not None:
        anchor = ceil_second(spec.start_at)
    elif before is not None and before.type is spec.type and before.expr == spec.expr and before.anchor:
        anchor = before.anchor
    else:
        # The first moment is one interval after the creation; the moment of creation itself is not planned.
        anchor = Instant(now // SECOND * SECOND + interval_of(spec))
    return replace(spec, anchor=anchor)


def moment_to_fire(spec: ScheduleSpec, schedule_id: ScheduleId, moment: Instant, created_at: Instant) -> Instant:
    """Return when a tick fires: its planned moment plus its jitter, but not before the schedule begins."""
    if not spec.jitter:
        return moment
    offset = jitter_offset(tick_key(ScheduleId(spec.seed) or schedule_id, moment), spec.jitter, spec.jitter_mode)
    return Instant(max(moment + offset, created_at, spec.start_at or 0))


def canonical(spec: ScheduleSpec, schedule_id: ScheduleId) -> ScheduleSpec:
    """Return a cron specification with its actual type: `@every 90s` is an interval, `@triggered` is manual,
    `@reboot` has a type of its own."""
    if spec.type is not ScheduleType.CRON:
        return spec
    rule = compiled(spec, schedule_id)
    if rule.is_reboot:
        return replace(spec, type=ScheduleType.REBOOT)
    if rule.is_manual:
        return replace(spec, type=ScheduleType.MANUAL)
    if isinstance(rule, Interval):
        return replace(spec, type=ScheduleType.INTERVAL, expr=str(rule.period))
    return spec


def check_schedule(spec: ScheduleSpec, schedule_id: ScheduleId, now: Instant) -> None:
    """Raise InvalidInput if the schedule cannot be stored. Call it before anything is stored."""
    check_name("schedule_id", schedule_id, InvalidSchedule)
    _check_target(spec)
    cron.zone(spec.timezone)
    _check_numbers(spec)
    _check_options(spec)
    _check_expression(spec, schedule_id)
    _check_window(spec, now)
    _check_fires(spec, schedule_id, now)


def expiry_error(spec: ScheduleSpec, schedule_id: ScheduleId, now: Instant) -> InvalidInput | None:
    """Return why a schedule cannot fire any more, or None. Raise InvalidInput if it could never fire.

    A schedule that has expired was valid once, and the file or the code that declares it must stay usable.
    """
    try:
        check_schedule(spec, schedule_id, now)
    except InvalidInput as error:
        if error.field not in _EXPIRING_FIELDS:
            raise
        check_schedule(spec, schedule_id, BEGINNING_OF_TIME)
        return error
    return None


def _check_target(spec: ScheduleSpec) -> None:
    if bool(spec.job_id) == bool(spec.workflow_id):
        raise InvalidSchedule(
            "a schedule starts one job or one workflow",
            hint="Give either job_id or workflow_id.",
            field="job_id",
        )
    check_name("job_id" if spec.job_id else "workflow_id", spec.target, InvalidSchedule)
    if spec.user_id is not None and not (spec.user_id.isprintable() and 0 < len(spec.user_id) <= MAX_USER_ID):
        raise InvalidSchedule(
            f"user_id must be printable text of 1 to {MAX_USER_ID} characters",
            hint="Give the name or the number of the user, or leave it out.",
            field="user_id",
        )


def _check_numbers(spec: ScheduleSpec) -> None:
    if spec.version is not None and not 0 <= spec.version <= MAX_VERSION:
        raise InvalidSchedule(
            f"version must be 0 to {MAX_VERSION}, not {spec.version}",
            hint="Leave it out for the newest version.",
            field="version",
        )
    if not 0 <= spec.jitter <= MAX_JITTER:
        raise InvalidSchedule(
            f"jitter must be 0 to {MAX_JITTER // SECOND} seconds, not {spec.jitter / SECOND:g}",
            hint="Use at most a day.",
            field="jitter",
        )
    if spec.catchup_max_age is not None and not 0 <= spec.catchup_max_age <= MAX_AGE:
        raise InvalidSchedule(
            f"catchup_max_age must be 0 to {MAX_AGE // SECOND} seconds, not {spec.catchup_max_age // SECOND}",
            hint="Leave it out to make up for ticks of any age.",
            field="catchup_max_age",
        )


def _check_options(spec: ScheduleSpec) -> None:
    if not spec.options:
        return
    if spec.workflow_id is not None:
        name = next(iter(spec.options))
        raise InvalidSchedule(
            f"a schedule of a workflow cannot have the option {name}",
            hint="Give it to the workflow, where it holds for every execution.",
            field=name,
        )
    overlay(Options(), spec.options).check()


def _check_expression(spec: ScheduleSpec, schedule_id: ScheduleId) -> None:
    if spec.type is ScheduleType.CRON:
        compiled(spec, schedule_id)
    else:
        check_times(spec)


def check_times(spec: ScheduleSpec) -> None:
    """Raise InvalidSchedule if a duration or a moment is out of range. Cron expressions are not checked."""
    match spec.type:
        case ScheduleType.INTERVAL:
            _check_integer(spec.expr, 1, MAX_INTERVAL // SECOND, "every")
        case ScheduleType.ONCE:
            _check_integer(spec.expr, 0, LATEST, "at")
        case ScheduleType.CRON | ScheduleType.MANUAL | ScheduleType.REBOOT:
            pass
    for name, moment in (("start_at", spec.start_at), ("end_at", spec.end_at), ("anchor", spec.anchor)):
        if moment is not None and not EARLIEST <= moment <= LATEST:
            raise InvalidSchedule(
                f"{name} is not in the years 1 to 9999", hint="Give a date in these years.", field=name
            )


def _check_integer(text: str, least: int, most: int, what: str) -> None:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None
    if number is None or not least <= number <= most:
        raise InvalidSchedule(
            f"{what} must be {least} to {most}, not {text[:32]!a}", hint="Write it in digits.", field=what
        )


def _check_window(spec: ScheduleSpec, now: Instant) -> None:
    if spec.start_at is not None and spec.end_at is not None and spec.start_at > spec.end_at:
        raise InvalidSchedule(
            f"start_at {to_iso(spec.start_at)} is after end_at {to_iso(spec.end_at)}",
            hint="Swap them, or leave one out.",
            field="start_at",
        )
    if spec.end_at is not None and spec.end_at < now:
        raise InvalidSchedule(
            f"end_at {to_iso(spec.end_at)} has passed",
            hint="Give a later end_at, or delete the schedule.",
            field="end_at",
        )


def _check_fires(spec: ScheduleSpec, schedule_id: ScheduleId, now: Instant) -> None:
    if spec.type in UNPLANNED:
        return
    stored = anchored(spec, now)
    first = first_fire(stored, schedule_id, now)
    if first is None:
        after = to_iso(_before_start(spec, now))
        raise InvalidSchedule(
            "the schedule never fires",
            hint=f"Nothing matches after {after}. Check the expression, start_at and end_at.",
            field="schedule_expr",
        )
    if spec.jitter:
        _check_jitter(spec, rule_of(stored, schedule_id), first)


def _check_jitter(spec: ScheduleSpec, rule: Rule, first: Instant) -> None:
    """Refuse jitter beyond half the period: ticks could overtake each other."""
    fires = rule.between(first, LATEST, _PERIOD_SAMPLES)
    period = min((b - a for a, b in pairwise(fires)), default=None)
    if period is not None and spec.jitter * 2 > period:
        raise InvalidSchedule(
            f"jitter of {spec.jitter / SECOND:g} s is more than half of the {period / SECOND:g} s between two fires",
            hint=f"Use at most {period / 2 / SECOND:g} s.",
            field="jitter",
        )
