"""All there is to say about one run: gathered, as one document, and printed."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from foliot.domain.gate.decision import Decision
from foliot.domain.logs import LogEnd
from foliot.domain.run import Run, Status
from foliot.domain.secrets import public_document
from foliot.interfaces.cli.execution_words import Told, question_words, step_state
from foliot.interfaces.cli.gate_words import VERDICT_COLUMNS, decision_object, decision_of, verdict_rows
from foliot.interfaces.cli.log_lines import end_in_words
from foliot.interfaces.cli.table import Column, moment, print_fields, print_section, span
from foliot.interfaces.cli.waits import waits_of
from foliot.interfaces.cli.why import why
from foliot.interfaces.cli.words import due, json_line, last_line, status
from foliot.service.paging import known_jobs
from foliot.service.services import Services
from foliot.service.views import AttemptView, RunView, as_json, view_attempt, view_job

Value = TypeVar("Value")

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
    given_back: int
    """How many starts were ended because their worker stopped, of those that printed anything."""
    why: str
    execution: Told | None
    """What it is, or what it is a step of."""
    step: str | None
    decision: Decision | None

    @classmethod
    async def gather(cls, services: Services, run: Run) -> "RunPage":
        view = await services.overview.run(run)
        attempts = [view_attempt(record) for record in await services.runs.attempt_records(run.id)]
        end = (await services.logs.tail(run.id, 1)).end
        told = await Told.gather(services, run.root or run.id)
        step = run.item if run.root is not None else None
        decision = await decision_of(services, run.id)
        because = None if view.unreadable else _why_execution(view, told, step)
        because = because or (await waits_of(services, [run.id])).get(run.id)
        if not because:
            job = (await known_jobs(services.storage, [run.job_id])).get(run.job_id)
            because = why(view, view_job(job) if job else None, await services.overview.workers())
        given_back = await services.logs.given_back(run)
        return cls(view, attempts, end, given_back, because, told, step, decision)

    def document(self) -> dict[str, Any]:
        told = self.execution
        part = {"execution_id": told.view.id, "workflow_id": told.view.workflow_id, "step": self.step} if told else None
        return {
            "type": "run",
            **as_json(self.run),
            "why": self.why,
            "attempts": [as_json(attempt) for attempt in self.attempts],
            "given_back": self.given_back,
            "log": {"state": self.log.state, "seen": self.log.seen, "stored": self.log.stored},
            "part_of": part if self.step is not None else None,
            "execution": told.document() if told is not None and self.step is None else None,
            "gate": None if self.decision is None else decision_object(self.decision),
        }

    def print(self) -> None:
        print_fields(self._facts())
        if self.decision is not None:
            print_section("Gate", VERDICT_COLUMNS, [*verdict_rows(self.decision)])
        if self.execution is not None and self.step is None:
            print_section("Steps", _STEPS, _step_rows(self.execution))
        else:
            print_section("Attempts", _ATTEMPTS, [_attempt_row(attempt) for attempt in self.attempts])

    def _facts(self) -> list[tuple[str, object]]:
        run = self.run
        is_execution = self.execution is not None and self.step is None
        return [
            ("run", run.id),
            ("job", run.job_id),
            *self._part_fields(),
            ("status", status(run)),
            ("why", self.why),
            ("gate", _gate_words(self.decision, run)),
            ("error", run.error_message),
            ("exit code", run.exit_code),
            ("made by", run.job_schedule_id or run.trigger),
            ("planned for", _known(run.scheduled_for, moment)),
            ("due", due(run)),
            ("started", _known(run.started_at, moment)),
            ("finished", _known(run.finished_at, moment)),
            ("took", _known(run.duration, span)),
            ("attempt", None if is_execution else self._attempt_words()),
            ("queue", f"{run.queue}, priority {run.priority}"),
            ("worker", run.worker_id),
            ("payload", _known(run.input_payload, _document_words)),
            ("output", _known(run.output_payload, _document_words)),
            ("for", run.user_id),
            ("key", run.idempotency_key),
            ("log", None if is_execution else f"{end_in_words(self.log)}; print it with: foliot logs {run.id}"),
        ]

    def _attempt_words(self) -> str:
        lost = f", {self.run.lost} lost" if self.run.lost else ""
        given_back = f", {self.given_back} given back when a worker stopped" if self.given_back else ""
        return f"{self.run.attempt}{lost}{given_back}"

    def _part_fields(self) -> list[tuple[str, object]]:
        if self.execution is None:
            return []
        view = self.execution.view
        if self.step is not None:
            return [("step", f"{self.step} of {view.workflow_id}, execution {view.id}")]
        drawn = f"foliot workflows show {view.workflow_id} --execution {view.id}"
        return [("workflow", f"{view.workflow_id}, version {view.version}; draw it with: {drawn}")]


def _why_execution(run: RunView, told: Told | None, step: str | None) -> str:
    """What the run alone does not tell: an execution has no attempt of its own, a question no worker."""
    if told is None:
        return ""
    if step is None:
        return told.why()
    return question_words(told.view.id, step) if step in told.questions and run.status is Status.SCHEDULED else ""


def _known(value: Value | None, words: Callable[[Value], str]) -> str | None:
    """What is not there is not shown, where a table would have a dash."""
    return None if value is None else words(value)


def _document_words(document: Any) -> str:
    return json_line(public_document(document))


def _gate_words(decision: Decision | None, run: RunView) -> str | None:
    """What the gate said, unless the run's error is the same."""
    return None if decision is None or decision.explanation == run.error_message else decision.explanation


def _step_rows(told: Told) -> list[Sequence[object]]:
    return [(step.name, step_state(step), step.run_id or "-", told.why_step(step) or "-") for step in told.view.steps]


def _attempt_row(attempt: AttemptView) -> Sequence[object]:
    state = f"{attempt.status} ({attempt.reason})" if attempt.reason else attempt.status
    code = "-" if attempt.exit_code is None else attempt.exit_code
    error = last_line(attempt.error_message)
    return attempt.attempt, state, moment(attempt.started_at), span(attempt.duration), code, error
