"""What a simulated cluster has to do: jobs, and workflows and schedules drawn by chance."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis, later
from foliot.domain.job.job import Delivery, JobSpec, Options
from foliot.domain.run.retry import Retry
from foliot.domain.schedule.schedule import Catchup, Overlap, ScheduleSpec, ScheduleType
from foliot.domain.schedule.tick import JitterMode
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import Step, StepOverlap, WorkflowSpec
from foliot.testing.simulation.actor import KIND
from foliot.testing.simulation.graphs import draw_edges, draw_steps

_TIMEOUT: Final = Millis(2 * MINUTE)
_RETRY: Final = Retry(retries=2, base=Millis(5 * SECOND), jitter=0.5)
_ONE_AT_A_TIME: Final = "pump"


def _job(deed: str | None = None, **options: Any) -> JobSpec:
    return JobSpec(kind=KIND, spec={"deed": deed} if deed else {}, options=Options(timeout=_TIMEOUT, **options))


_JOBS: Final[dict[JobId, JobSpec]] = {
    JobId("plain"): _job(),
    JobId("stubborn"): _job(retry=_RETRY),
    JobId("narrow"): _job(retry=_RETRY, max_concurrent=2),
    JobId("keyed"): _job(concurrency_key=_ONE_AT_A_TIME),
    JobId("keyed_too"): _job(retry=_RETRY, concurrency_key=_ONE_AT_A_TIME, max_concurrent=3, priority=5),
    JobId("fragile"): _job(delivery=Delivery.AT_MOST_ONCE),
    JobId("poison"): _job("kill"),
    JobId("endless"): _job("hang"),
    JobId("gated"): replace(_job(), gate=Gate(depends_on=(JobId("plain"),), window=HOUR, wait=Millis(MINUTE))),
}
_RARE: Final = ("poison", "endless")
"""What no schedule starts: it is asked for now and then."""
WORKFLOWS: Final = ("flow", "stream")
_STEP_OPTIONS: Final[Sequence[dict[str, Any]]] = ({}, {}, {}, {"retry": _RETRY}, {"max_concurrent": 1})
_OVERLAPS: Final = (StepOverlap.ALLOW, StepOverlap.ALLOW, StepOverlap.ALLOW, StepOverlap.SKIP, StepOverlap.QUEUE)
PAYLOAD: Final = {"execution": "{{ execution.id }}"}
"""What every step is told, so that it can say later in which execution it ran."""


class Catalogue(NamedTuple):
    """Everything that can be asked for."""

    workflows: dict[str, WorkflowSpec]
    jobs: dict[JobId, JobSpec]

    @property
    def startable(self) -> list[JobId]:
        """What schedules start."""
        return [job_id for job_id in self.jobs if job_id not in _RARE and "." not in job_id]


def draw_catalogue(chance: Random) -> Catalogue:
    """The jobs that are always there, and workflows of any shape."""
    workflows = {workflow_id: _draw_workflow(chance) for workflow_id in WORKFLOWS}
    jobs = [jobs_of(workflow_id, 1, spec) for workflow_id, spec in workflows.items()]
    return Catalogue(workflows, _JOBS | {job_id: spec for some in jobs for job_id, spec in some.items()})


def redraw_workflow(chance: Random, spec: WorkflowSpec) -> WorkflowSpec:
    """An edit: the same steps, other edges."""
    return replace(spec, steps=draw_edges(chance, spec.steps))


def _draw_workflow(chance: Random) -> WorkflowSpec:
    return WorkflowSpec(
        steps=draw_steps(chance, lambda name: _draw_step(chance, name), most=9),
        options=Options(timeout=chance.choice((None, Millis(20 * MINUTE)))),
        final_on_cancel=chance.random() < 0.5,
    )


def _draw_step(chance: Random, name: str) -> Step:
    definition = _job(**chance.choice(_STEP_OPTIONS))
    return Step(name=name, definition=definition, payload=PAYLOAD, overlap=chance.choice(_OVERLAPS))


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


def draw_schedule(chance: Random, now: Instant, catalogue: Catalogue, overlap: Overlap | None = None) -> ScheduleSpec:
    """Any rule, with any policy, for any of the jobs."""
    overlap = overlap or chance.choice(list(Overlap))
    rule = {"type": ScheduleType.CRON, **chance.choices(_RULES, (5, 5, 5, 2, 1))[0](chance, now)}
    spec = ScheduleSpec(
        **rule,
        job_id=chance.choice(catalogue.startable),
        overlap=overlap,
        catchup=chance.choice(list(Catchup)),
        catchup_max_age=chance.choice((None, None, Millis(3 * MINUTE), Millis(30 * MINUTE))),
    )
    return _draw_window(chance, now, _draw_jitter(chance, spec))


def redraw_schedule(chance: Random, spec: ScheduleSpec, now: Instant, catalogue: Catalogue) -> ScheduleSpec:
    """An edit: another rule or other policies, the same overlap, so that it can be judged from outside."""
    return draw_schedule(chance, now, catalogue, spec.overlap)


def _draw_jitter(chance: Random, spec: ScheduleSpec) -> ScheduleSpec:
    if chance.random() < 0.6:
        return spec
    return replace(spec, jitter=Millis(chance.randrange(1, 5 * SECOND)), jitter_mode=chance.choice(list(JitterMode)))


def _draw_window(chance: Random, now: Instant, spec: ScheduleSpec) -> ScheduleSpec:
    if chance.random() < 0.8:
        return spec
    start = later(now, chance.randrange(-10, 10) * MINUTE + chance.randrange(SECOND))
    return replace(spec, start_at=start, end_at=later(start, chance.randrange(15, 60) * MINUTE))
