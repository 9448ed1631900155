"""All there is to say about one run, job or schedule: gathered, as one document, and printed."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.gate.decision import Decision
from foliot.domain.logs import LogEnd
from foliot.domain.run import Run, Status
from foliot.domain.secrets import public_document
from foliot.domain.workflow.jobs import GRAPH
from foliot.interfaces.cli.execution_words import Told, question_words, step_state
from foliot.interfaces.cli.gate_words import (
    DEPENDENCY_COLUMNS,
    VERDICT_COLUMNS,
    Dependencies,
    decision_object,
    decision_of,
    verdict_rows,
)
from foliot.interfaces.cli.listing import all_schedules
from foliot.interfaces.cli.log_lines import end_in_words
from foliot.interfaces.cli.speaking import tell
from foliot.interfaces.cli.table import Column, moment, print_fields, print_table, span
from foliot.interfaces.cli.waits import waits_of
from foliot.interfaces.cli.why import why
from foliot.interfaces.cli.words import (
    RUN_COLUMNS,
    due,
    job_state,
    json_line,
    last_line,
    option_words,
    plain,
    rule,
    rule_in_words,
    run_row,
    schedule_state,
    status,
    tick_row,
)
from foliot.ports.runs import RunFilter
from foliot.service.views import (
    AttemptView,
    JobView,
    RunView,
    ScheduleView,
    TickView,
    as_json,
    view_attempt,
    view_job,
    view_run,
)
from foliot.wiring import Services

_RECENT: Final = 5
_TICKS: Final = 10
_STEPS: Final = (
    Column("STEP", is_whole=True),
    Column("RESULT", stays=True),
    Column("RUN", is_whole=True),
    Column("WHY"),
)
_ATTEMPTS: Final = (
    Column("TRY"),
    Column("STATUS", stays=True),
    Column("STARTED"),
    Column("TOOK"),
    Column("EXIT"),
    Column("ERROR"),
)


class RunPage(NamedTuple):
    run: RunView
    attempts: list[AttemptView]
    log: LogEnd
    why: str
    execution: Told | None
    """What it is, or what it is a step of."""
    step: str | None
    decision: Decision | None

    @classmethod
    async def gather(cls, services: Services, run: Run) -> "RunPage":
        view = view_run(run)
        attempts = [view_attempt(record) for record in await services.desk.attempts(run.id)]
        end = (await services.logs.tail(run.id, 1)).end
        told = await Told.gather(services, run.root or run.id)
        step = run.item if run.root is not None else None
        decision = await decision_of(services, run.id)
        because = _why_execution(view, told, step) or (await waits_of(services, [run.id])).get(run.id)
        if not because:
            job = (await services.storage.jobs.get([run.job_id])).get(run.job_id)
            because = why(view, view_job(job) if job else None, await services.overview.workers())
        return cls(view, attempts, end, because, told, step, decision)

    def document(self) -> dict[str, Any]:
        told = self.execution
        part = {"execution_id": told.view.id, "workflow_id": told.view.workflow_id, "step": self.step} if told else None
        return {
            "type": "run",
            **as_json(self.run),
            "why": self.why,
            "attempts": [as_json(attempt) for attempt in self.attempts],
            "log": {"state": self.log.state, "seen": self.log.seen, "stored": self.log.stored},
            "part_of": part if self.step is not None else None,
            "execution": told.document() if told is not None and self.step is None else None,
            "gate": None if self.decision is None else decision_object(self.decision),
        }

    def print(self) -> None:
        run = self.run
        planned = None if run.scheduled_for is None else moment(run.scheduled_for)
        is_execution = self.execution is not None and self.step is None
        print_fields(
            [
                ("run", run.id),
                ("job", run.job_id),
                *self._part_fields(),
                ("status", status(run)),
                ("why", self.why),
                ("gate", _gate_words(self.decision, run)),
                ("error", run.error_message),
                ("exit code", run.exit_code),
                ("made by", run.job_schedule_id or run.trigger),
                ("planned for", planned),
                ("due", due(run)),
                ("started", None if run.started_at is None else moment(run.started_at)),
                ("finished", None if run.finished_at is None else moment(run.finished_at)),
                ("took", None if run.duration is None else span(run.duration)),
                ("attempt", None if is_execution else f"{run.attempt}{f', {run.lost} lost' if run.lost else ''}"),
                ("queue", f"{run.queue}, priority {run.priority}"),
                ("worker", run.worker_id),
                ("payload", None if run.input_payload is None else json_line(public_document(run.input_payload))),
                ("output", None if run.output_payload is None else json_line(public_document(run.output_payload))),
                ("key", run.idempotency_key),
                ("log", None if is_execution else f"{end_in_words(self.log)}; print it with: foliot logs {run.id}"),
            ]
        )
        if self.decision is not None:
            _section("Gate", VERDICT_COLUMNS, [*verdict_rows(self.decision)])
        if self.execution is not None and self.step is None:
            _section("Steps", _STEPS, _step_rows(self.execution))
        else:
            _section("Attempts", _ATTEMPTS, [_attempt_row(attempt) for attempt in self.attempts])

    def _part_fields(self) -> list[tuple[str, object]]:
        if self.execution is None:
            return []
        view = self.execution.view
        if self.step is not None:
            return [("step", f"{self.step} of {view.workflow_id}, execution {view.id}")]
        drawn = f"foliot workflows show {view.workflow_id} --execution {view.id}"
        return [("workflow", f"{view.workflow_id}, version {view.version}; draw it with: {drawn}")]


class JobPage(NamedTuple):
    job: JobView
    schedules: list[ScheduleView]
    runs: list[RunView]
    dependencies: Dependencies | None

    @classmethod
    async def gather(cls, services: Services, job_id: str) -> "JobPage":
        job = await services.registrar.job(job_id)
        runs = await services.desk.page(RunFilter(job_id=job.id, limit=_RECENT))
        latest = runs[0] if runs else None
        return cls(
            view_job(job, latest),
            await all_schedules(services, job.id),
            [view_run(run) for run in runs],
            await Dependencies.gather(services, job),
        )

    def document(self) -> dict[str, Any]:
        return {
            "type": "job",
            **as_json(self.job),
            "state": job_state(self.job, self.schedules),
            "schedules": [as_json(schedule) for schedule in self.schedules],
            "runs": [as_json(run) for run in self.runs],
            "gate": None if self.dependencies is None else self.dependencies.document(),
        }

    def print(self) -> None:
        job = self.job
        print_fields(
            [
                ("job", job.id),
                ("name", job.name or None),
                ("description", job.description or None),
                ("state", job_state(job, self.schedules)),
                ("kind", job.kind),
                *((f"  {name}", plain(value)) for name, value in job.spec.items()),
                ("payload", None if job.payload_template is None else json_line(job.payload_template)),
                *((name, option_words(name, value)) for name, value in job.options.items()),
                ("gate", None if self.dependencies is None else self.dependencies.words),
                ("tags", ", ".join(job.tags) or None),
                ("owner", job.owner or None),
                ("from", f"{job.source}, revision {job.revision}, changed {moment(job.updated_at)}"),
                ("drawing", f"foliot workflows show {job.id}" if job.kind == GRAPH else None),
            ]
        )
        if self.dependencies is not None:
            _section("Dependencies", DEPENDENCY_COLUMNS, [*self.dependencies.rows()])
        for schedule in self.schedules:
            tell()
            print_fields(_schedule_fields(schedule))
        _section("Last runs", RUN_COLUMNS, [run_row(run) for run in self.runs])


class SchedulePage(NamedTuple):
    schedule: ScheduleView
    ticks: list[TickView]

    @classmethod
    async def gather(cls, services: Services, schedule_id: str) -> "SchedulePage":
        stored = await services.registrar.schedule(schedule_id)
        ticks = await services.overview.ticks(stored, _TICKS)
        return cls(await services.registrar.get_schedule(schedule_id), ticks)

    def document(self) -> dict[str, Any]:
        ticks = [as_json(tick) for tick in self.ticks]
        return {"type": "schedule", **as_json(self.schedule), "state": schedule_state(self.schedule), "ticks": ticks}

    def print(self) -> None:
        print_fields(_schedule_fields(self.schedule))
        columns = (Column("LAST TICKS"), Column("OUTCOME", stays=True), Column("RUN", is_whole=True), Column("STATUS"))
        _section("", columns, [tick_row(tick) for tick in self.ticks])


def _why_execution(run: RunView, told: Told | None, step: str | None) -> str:
    """What the run alone does not tell: an execution has no attempt of its own, a question no worker."""
    if told is None:
        return ""
    if step is None:
        return told.why()
    return question_words(told.view.id, step) if step in told.questions and run.status is Status.SCHEDULED else ""


def _gate_words(decision: Decision | None, run: RunView) -> str | None:
    """What the gate said, unless the run's error is the same."""
    return None if decision is None or decision.explanation == run.error_message else decision.explanation


def _step_rows(told: Told) -> list[Sequence[object]]:
    return [(step.name, step_state(step), step.run_id or "-", told.why_step(step) or "-") for step in told.view.steps]


def _schedule_fields(schedule: ScheduleView) -> list[tuple[str, object]]:
    words = rule_in_words(schedule)
    window = f"{moment(schedule.start_at)} to {moment(schedule.end_at)}"
    coming = "" if not schedule.paused else "none while it is paused; else "
    return [
        ("schedule", schedule.schedule_id),
        ("job", schedule.job_id or schedule.workflow_id),
        ("rule", rule(schedule)),
        ("in words", words if words != rule(schedule) else None),
        ("state", schedule_state(schedule)),
        ("policy", f"overlap {schedule.overlap_policy}, catch-up {schedule.catchup_policy}"),
        ("jitter", f"{schedule.jitter_ms}ms" if schedule.jitter_ms else None),
        ("window", window if schedule.start_at or schedule.end_at else None),
        ("last", moment(schedule.last_scheduled_at)),
        ("next", coming + (", ".join(map(moment, schedule.preview)) or "-")),
    ]


def _attempt_row(attempt: AttemptView) -> Sequence[object]:
    state = f"{attempt.status} ({attempt.reason})" if attempt.reason else attempt.status
    code = "-" if attempt.exit_code is None else attempt.exit_code
    error = last_line(attempt.error_message)
    return attempt.attempt, state, moment(attempt.started_at), span(attempt.duration), code, error


def _section(title: str, columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> None:
    if rows:
        tell(f"\n{title}" if title else "")
        print_table(columns, rows)
