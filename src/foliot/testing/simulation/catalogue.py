"""The definitions of a simulated cluster: fixed jobs, and random workflows, fanouts, chains and schedules."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from msgspec import convert, to_builtins
from msgspec.structs import replace

from foliot.domain.chain.spec import CHAIN
from foliot.domain.fanout.spec import FANOUT, Reducer, RunOn
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis, later
from foliot.domain.job.job import Delivery, JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
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


def _job(deed: str | None = None, follow_ups: str | None = None, **options: Any) -> JobSpec:
    spec = {"deed": deed, "follow_ups": follow_ups}
    return JobSpec(
        kind=KIND,
        spec={name: given for name, given in spec.items() if given},
        options=Options(timeout=_TIMEOUT, **options),
    )


_JOBS: Final[dict[JobId, JobSpec]] = {
    JobId("plain"): _job(),
    JobId("stubborn"): _job(retry=_RETRY),
    JobId("narrow"): _job(retry=_RETRY, max_concurrent=2),
    JobId("keyed"): _job(concurrency_key=_ONE_AT_A_TIME),
    JobId("keyed_too"): _job(retry=_RETRY, concurrency_key=_ONE_AT_A_TIME, max_concurrent=3, priority=5),
    JobId("fragile"): _job(delivery=Delivery.AT_MOST_ONCE),
    JobId("poison"): _job("kill"),
    JobId("endless"): _job("hang"),
    JobId("chatty"): _job(follow_ups="plain"),
    JobId("gated"): replace(_job(), gate=Gate(depends_on=(JobId("plain"),), window=HOUR, wait=Millis(MINUTE))),
}
_RARE: Final = ("poison", "endless")
"""Jobs that no schedule starts; they are enqueued from time to time."""
WORKFLOWS: Final = ("flow", "stream")
FANOUTS: Final = ("fan", "spread")
CHAINS: Final = ("guard", "sentry", "chatty")
"""Classes of chains, and a job whose runs start chains by themselves."""
_WIDTHS: Final = (1, 2, 3, 5)
_TOLERANCES: Final = (0.0, 0.1, 0.5, 1.0)
_STEP_OPTIONS: Final[Sequence[dict[str, Any]]] = ({}, {}, {}, {"retry": _RETRY}, {"max_concurrent": 1})
_OVERLAPS: Final = (StepOverlap.ALLOW, StepOverlap.ALLOW, StepOverlap.ALLOW, StepOverlap.SKIP, StepOverlap.QUEUE)
PAYLOAD: Final = {"execution": "{{ execution.id }}"}
"""The payload of every step. Its output repeats it, so that the watch can check the execution."""


class Catalogue(NamedTuple):
    """All jobs and workflows of the cluster."""

    workflows: dict[str, WorkflowSpec]
    jobs: dict[JobId, JobSpec]
    parts: dict[JobId, JobSpec]
    """The jobs of children and reducers of fanouts and of steps of chains, which nothing else starts."""

    @property
    def startable(self) -> list[JobId]:
        """The jobs that schedules may start."""
        return [job_id for job_id in self.jobs if job_id not in _RARE and "." not in job_id]


def draw_catalogue(random: Random) -> Catalogue:
    """Return the fixed jobs and random workflows."""
    workflows = {workflow_id: _draw_workflow(random) for workflow_id in WORKFLOWS}
    fanouts = {JobId(job_id): _draw_fanout(random, most=8) for job_id in FANOUTS}
    of_workflows = [jobs_of(workflow_id, 1, spec) for workflow_id, spec in workflows.items()]
    chains = {JobId(job_id): _draw_chain(random) for job_id in CHAINS[:2]}
    jobs = _JOBS | fanouts | chains | {job_id: spec for some in of_workflows for job_id, spec in some.items()}
    parts = {name: part for job_id, spec in jobs.items() for name, part in _parts_of(job_id, spec).items()}
    return Catalogue(workflows, jobs, parts)


def redraw_workflow(random: Random, spec: WorkflowSpec) -> WorkflowSpec:
    """Return the workflow with the same steps and other edges."""
    return replace(spec, steps=draw_edges(random, spec.steps))


def _draw_workflow(random: Random) -> WorkflowSpec:
    return WorkflowSpec(
        steps=draw_steps(random, lambda name: _draw_step(random, name), most=9),
        options=Options(timeout=random.choice((None, Millis(20 * MINUTE)))),
        final_on_cancel=random.random() < 0.5,
    )


def _draw_fanout(random: Random, *, most: int) -> JobSpec:
    """Return a fanout over some numbers, sometimes with a reducer, retries or a timeout."""
    options = Options(retry=_RETRY) if random.random() < 0.5 else Options()
    spec: dict[str, Any] = {
        "inner_kind": KIND,
        "items": list(range(random.randrange(most + 1))),
        "concurrency": random.choice(_WIDTHS),
        "partial_tolerance": random.choice(_TOLERANCES),
        "per_item_timeout": _TIMEOUT,
        "child_options": to_builtins(options),
    }
    if random.random() < 0.7:
        retry = random.choice((Retry(), _RETRY))
        spec["reducer"] = to_builtins(
            Reducer(kind=KIND, run_on=random.choice(list(RunOn)), retry=retry, timeout=_TIMEOUT)
        )
    timeout = random.choice((None, None, Millis(5 * MINUTE)))
    return JobSpec(kind=FANOUT, spec=spec, options=Options(queue=TREES_QUEUE, timeout=timeout))


def _draw_chain(random: Random) -> JobSpec:
    """Return a class with tight limits, whose steps are hostile."""
    names = ["action", "verify", "extra", *random.sample(["scout", "monitor", "escalate"], random.randrange(4))]
    spec = {
        "stages": {
            name: {"kind": KIND, "delay": random.randrange(90) * SECOND, "options": {"timeout": _TIMEOUT}}
            for name in names
        },
        "limits": {"max_depth": random.randrange(1, 4), "max_children": random.randrange(1, 9), "max_concurrent": 2},
        "breaker": {"failures": random.randrange(1, 4), "cooldown": 10 * MINUTE},
        "good_checks": random.randrange(1, 3),
    }
    return JobSpec(kind=CHAIN, spec=spec, options=Options(queue=TREES_QUEUE))


def _parts_of(job_id: JobId, spec: JobSpec) -> dict[JobId, JobSpec]:
    """Return the jobs of the children and of the reducer of a fanout, or of the steps of a chain."""
    if spec.kind == CHAIN:
        return {JobId(f"{job_id}.{stage}"): JobSpec(kind=KIND) for stage in spec.spec["stages"]}
    if "follow_ups" in spec.spec:
        return {JobId(f"{job_id}.chain"): JobSpec(kind=CHAIN, options=Options(queue=TREES_QUEUE))}
    if spec.kind != FANOUT:
        return {}
    reducer = convert(spec.spec.get("reducer", {}), Reducer)
    return {
        JobId(f"{job_id}.item"): JobSpec(kind=KIND, options=convert(spec.spec["child_options"], Options)),
        JobId(f"{job_id}.reducer"): JobSpec(kind=KIND, options=Options(retry=reducer.retry)),
    }


def _draw_step(random: Random, name: str) -> Step:
    if random.random() < 0.1:
        return Step(name=name, definition=_draw_fanout(random, most=5))
    definition = _job(**random.choice(_STEP_OPTIONS))
    return Step(name=name, definition=definition, payload=PAYLOAD, overlap=random.choice(_OVERLAPS))


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
    lambda random, now: dict(zip(("expr", "timezone"), random.choice(_CRONS), strict=True)),
    lambda random, now: dict(zip(("expr", "timezone"), random.choice(_CRONS[:3]), strict=True)),
    lambda random, now: {"type": ScheduleType.INTERVAL, "expr": str(random.choice((10, 45, 90, 600)))},
    lambda random, now: {"type": ScheduleType.ONCE, "expr": str(now - now % SECOND + random.randrange(600) * SECOND)},
    lambda random, now: {"type": ScheduleType.MANUAL},
)


def draw_schedule(random: Random, now: Instant, catalogue: Catalogue, overlap: Overlap | None = None) -> ScheduleSpec:
    """Return a schedule with a random rule, policies and job."""
    overlap = overlap or random.choice(list(Overlap))
    rule = {"type": ScheduleType.CRON, **random.choices(_RULES, (5, 5, 5, 2, 1))[0](random, now)}
    spec = ScheduleSpec(
        **rule,
        job_id=random.choice(catalogue.startable),
        overlap=overlap,
        catchup=random.choice(list(Catchup)),
        catchup_max_age=random.choice((None, None, Millis(3 * MINUTE), Millis(30 * MINUTE))),
    )
    return _draw_window(random, now, _draw_jitter(random, spec))


def redraw_schedule(random: Random, spec: ScheduleSpec, now: Instant, catalogue: Catalogue) -> ScheduleSpec:
    """Return the schedule with another rule or policies. The overlap policy stays, so that the watch can check it."""
    return draw_schedule(random, now, catalogue, spec.overlap)


def _draw_jitter(random: Random, spec: ScheduleSpec) -> ScheduleSpec:
    if random.random() < 0.6:
        return spec
    return replace(spec, jitter=Millis(random.randrange(1, 5 * SECOND)), jitter_mode=random.choice(list(JitterMode)))


def _draw_window(random: Random, now: Instant, spec: ScheduleSpec) -> ScheduleSpec:
    if random.random() < 0.8:
        return spec
    start = later(now, random.randrange(-10, 10) * MINUTE + random.randrange(SECOND))
    return replace(spec, start_at=start, end_at=later(start, random.randrange(15, 60) * MINUTE))
