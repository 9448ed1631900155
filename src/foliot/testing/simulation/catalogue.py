"""What a simulated cluster has to do: jobs, and schedules drawn by chance."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis, later
from foliot.domain.job import Delivery, JobSpec, Options
from foliot.domain.retry import Retry
from foliot.domain.schedule import Catchup, Overlap, ScheduleSpec, ScheduleType
from foliot.domain.tick import JitterMode
from foliot.domain.workflow.conditions import Condition
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.testing.simulation.actor import KIND

_TIMEOUT: Final = Millis(2 * MINUTE)
_RETRY: Final = Retry(retries=2, base=Millis(5 * SECOND), jitter=0.5)
_ONE_AT_A_TIME: Final = "pump"


def _job(deed: str | None = None, **options: Any) -> JobSpec:
    return JobSpec(kind=KIND, spec={"deed": deed} if deed else {}, options=Options(timeout=_TIMEOUT, **options))


def _step(name: str, *after: Edge, is_final: bool = False, **options: Any) -> Step:
    return Step(name=name, definition=_job(**options), after=after, is_final=is_final)


WORKFLOW: Final = "flow"
FLOW: Final = WorkflowSpec(
    steps=(
        _step("extract", retry=_RETRY),
        _step("check"),
        _step("load", Edge(parent="extract"), Edge(parent="check", when=frozenset({Condition.COMPLETE}))),
        _step("alarm", Edge(parent="extract", when=frozenset({Condition.FAILURE, Condition.SKIPPED}))),
        _step("report", Edge(parent="load", when=frozenset({Condition.SUCCESS, Condition.SKIPPED})), max_concurrent=1),
        _step("clean", is_final=True),
    ),
    options=Options(timeout=Millis(20 * MINUTE)),
)

JOBS: Final[dict[JobId, JobSpec]] = {
    JobId("plain"): _job(),
    JobId("stubborn"): _job(retry=_RETRY),
    JobId("narrow"): _job(retry=_RETRY, max_concurrent=2),
    JobId("keyed"): _job(concurrency_key=_ONE_AT_A_TIME),
    JobId("keyed_too"): _job(retry=_RETRY, concurrency_key=_ONE_AT_A_TIME, max_concurrent=3, priority=5),
    JobId("fragile"): _job(delivery=Delivery.AT_MOST_ONCE),
    JobId("poison"): _job("kill"),
    JobId("endless"): _job("hang"),
    JobId("gated"): replace(_job(), gate=Gate(depends_on=(JobId("plain"),), window=HOUR, wait=Millis(MINUTE))),
    **jobs_of(WORKFLOW, 1, FLOW),
}
COMMON: Final = tuple(job_id for job_id in JOBS if job_id not in ("poison", "endless") and "." not in job_id)
"""What schedules start. The others are asked for now and then."""

_CRONS: Final = (
    ("* * * * *", "UTC"),
    ("*/5 * * * *", "UTC"),
    ("*/20 * * * * *", "UTC"),
    ("30 2 * * *", "Europe/Berlin"),
    ("*/15 1-3 * * *", "America/New_York"),
    ("0 */2 * * *", "Australia/Lord_Howe"),
    ("H H * * *", "UTC"),
)
_RULES: Final[Sequence[Callable[[Random, Instant], dict[str, Any]]]] = (
    lambda chance, now: dict(zip(("expr", "timezone"), chance.choice(_CRONS), strict=True)),
    lambda chance, now: dict(zip(("expr", "timezone"), chance.choice(_CRONS[:3]), strict=True)),
    lambda chance, now: {"type": ScheduleType.INTERVAL, "expr": str(chance.choice((10, 45, 90, 600)))},
    lambda chance, now: {"type": ScheduleType.ONCE, "expr": str(now - now % SECOND + chance.randrange(600) * SECOND)},
    lambda chance, now: {"type": ScheduleType.MANUAL},
)


def draw_schedule(chance: Random, now: Instant) -> ScheduleSpec:
    """Any rule, with any policy."""
    rule = {"type": ScheduleType.CRON, **chance.choices(_RULES, (5, 5, 5, 2, 1))[0](chance, now)}
    spec = ScheduleSpec(
        **rule,
        job_id=chance.choice(COMMON),
        overlap=chance.choice(list(Overlap)),
        catchup=chance.choice(list(Catchup)),
        catchup_max_age=chance.choice((None, None, Millis(3 * MINUTE), Millis(30 * MINUTE))),
    )
    return _draw_window(chance, now, _draw_jitter(chance, spec))


def redraw_schedule(chance: Random, spec: ScheduleSpec, now: Instant) -> ScheduleSpec:
    """An edit: another rule or other policies, the same overlap, so that it can be judged from outside."""
    return replace(draw_schedule(chance, now), overlap=spec.overlap)


def _draw_jitter(chance: Random, spec: ScheduleSpec) -> ScheduleSpec:
    if chance.random() < 0.6:
        return spec
    return replace(spec, jitter=Millis(chance.randrange(1, 5 * SECOND)), jitter_mode=chance.choice(list(JitterMode)))


def _draw_window(chance: Random, now: Instant, spec: ScheduleSpec) -> ScheduleSpec:
    if chance.random() < 0.8:
        return spec
    start = later(now, chance.randrange(-10, 10) * MINUTE + chance.randrange(SECOND))
    return replace(spec, start_at=start, end_at=later(start, chance.randrange(15, 60) * MINUTE))
