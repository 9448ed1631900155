"""The page of a run, as text and as a JSON document."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from foliot.domain.access.trail import AuditAction
from foliot.domain.gate.decision import Decision
from foliot.domain.secrets import public_document
from foliot.domain.tree.run_kind import RunKind
from foliot.interfaces.cli.output import print_line
from foliot.interfaces.cli.render.execution import execution_document, step_rows
from foliot.interfaces.cli.render.explanation import explain
from foliot.interfaces.cli.render.fanout import fanout_fields, print_fanout, print_items
from foliot.interfaces.cli.render.format import due, json_line, last_line, moment, progress_bar, span, status
from foliot.interfaces.cli.render.gate import VERDICT_COLUMNS, decision_document, verdict_rows
from foliot.interfaces.cli.render.log import end_text
from foliot.interfaces.cli.render.table import Column, print_fields, print_section
from foliot.interfaces.cli.render.text import escaped
from foliot.service.queries.chain_view import ChainPartView
from foliot.service.queries.documents import as_json
from foliot.service.queries.executions import ExecutionPage
from foliot.service.queries.fanout_view import FanoutItemsView
from foliot.service.queries.run_view import AttemptView, ProgressView, RunView
from foliot.service.queries.runs import RunPage

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


_PAST: Final = {
    AuditAction.CANCEL: "cancelled",
    AuditAction.MARK: "marked",
    AuditAction.APPROVE: "approved",
    AuditAction.REJECT: "rejected",
}


def run_document(page: RunPage) -> dict[str, Any]:
    execution = None if page.execution is None else page.execution.execution
    part = None
    if execution is not None and page.step is not None:
        part = {"execution_id": execution.id, "workflow_id": execution.workflow_id, "step": page.step}
    return {
        "type": "run",
        **as_json(page.run),
        "why": explain(page.why),
        "attempts": [as_json(attempt) for attempt in page.attempts],
        "given_back": page.given_back,
        "log": {"state": page.log.state, "seen": page.log.seen, "stored": page.log.stored},
        "part_of": part,
        "execution": execution_document(page.execution) if page.execution is not None and page.step is None else None,
        "gate": None if page.decision is None else decision_document(page.decision),
        "chain": None if page.chain is None else as_json(page.chain),
        "fanout": None if page.fanout is None else as_json(page.fanout),
        "actions": [as_json(action) for action in page.actions],
        "step_actions": {name: as_json(action) for name, action in page.step_actions.items()},
    }


def print_run(page: RunPage, items: FanoutItemsView | None = None) -> None:
    """Print a run; of a fanout either the given items, or only those that failed first and the slowest ones."""
    print_fields(_facts(page))
    _print_error(page.run.error_message)
    if page.decision is not None:
        print_section("Gate", VERDICT_COLUMNS, [*verdict_rows(page.decision)])
    if page.execution is not None and page.step is None:
        print_section("Steps", _STEPS, [*_step_rows(page, page.execution)])
    elif items is not None:
        print_items(items)
    elif page.fanout is not None:
        print_fanout(page.fanout)
    elif page.run.kind is not RunKind.CHAIN:
        print_section("Attempts", _ATTEMPTS, [_attempt_row(attempt) for attempt in page.attempts])


def _step_rows(page: RunPage, execution: ExecutionPage) -> Iterator[Sequence[object]]:
    """Yield the rows of the steps. What a person decided is not explained otherwise."""
    for name, state, run_id, why in step_rows(execution):
        action = page.step_actions.get(str(name))
        by = None if action is None else f"{_PAST[AuditAction(action.action)]} by {action.actor}"
        yield name, state, run_id, by or why


def _print_error(text: str | None) -> None:
    """Print an error of several lines, such as a traceback, whole. The field has only the line that names it."""
    lines = (text or "").strip().splitlines()
    if len(lines) > 1:
        print_line("\nError")
        print_line("\n".join(escaped(line.expandtabs()) for line in lines))


def _facts(page: RunPage) -> list[tuple[str, object]]:
    run = page.run
    is_tree = page.fanout is not None or (page.execution is not None and page.step is None)
    is_tree = is_tree or run.kind is RunKind.CHAIN
    return [
        ("run", run.id),
        ("job", run.job_id),
        *_part_fields(page),
        *_chain_fields(page.chain),
        *_item_fields(run),
        ("status", status(run)),
        ("progress", _known(run.progress, _progress_text)),
        ("why", explain(page.why)),
        ("gate", _gate_explanation(page.decision, run)),
        *(() if page.fanout is None else fanout_fields(page.fanout)),
        ("error", _known(run.error_message, last_line)),
        ("exit code", run.exit_code),
        ("triggered by", _trigger_text(page)),
        *_action_fields(page),
        ("planned for", _known(run.scheduled_for, moment)),
        *_times(run),
        ("attempt", None if is_tree else _attempt_text(page)),
        ("queue", None if is_tree else f"{run.queue}, priority {run.priority}"),
        ("worker", run.worker_id),
        ("executor run", _executor_text(run)),
        ("payload", _known(run.input_payload, _document_text)),
        ("output", None if page.fanout is not None else _known(run.output_payload, _document_text)),
        ("for", run.user_id),
        ("idempotency key", run.idempotency_key),
        ("log", _log_text(page, is_tree)),
    ]


def _times(run: RunView) -> list[tuple[str, object]]:
    """Return when the run was due, started and finished. After a retry these are the times of one attempt."""
    attempt = run.attempt + (not run.status.is_terminal and run.started_at is None)
    of = f" (attempt {attempt})" if attempt > 1 else ""
    return [
        ("due", f"{due(run)}{of}"),
        ("started", _known(run.started_at, lambda at: f"{moment(at)}{of}")),
        ("finished", _known(run.finished_at, moment)),
        ("took", _known(run.duration, lambda seconds: f"{span(seconds)}{of}")),
    ]


def _trigger_text(page: RunPage) -> str:
    what = page.run.job_schedule_id or page.run.trigger
    actor = next((one.actor for one in page.actions if one.action == AuditAction.TRIGGER), None)
    return what if actor is None else f"{actor} ({what})"


def _action_fields(page: RunPage) -> list[tuple[str, object]]:
    """Return who cancelled, approved, rejected or marked the run."""
    shown = [action for action in page.actions if action.action in _PAST]
    return [(f"{_PAST[AuditAction(one.action)]} by", f"{one.actor} at {moment(one.at)}") for one in shown]


def _executor_text(run: RunView) -> str | None:
    started = run.executor_started_at
    at = "" if started is None else f"started at {moment(started)}"
    return ", ".join(filter(None, (run.executor_run_id, at))) or None


def _log_text(page: RunPage, is_tree: bool) -> str | None:
    if page.fanout is not None:
        return f"print the log of an item with: foliot logs {page.run.id} --item INDEX"
    if page.run.kind is RunKind.CHAIN:
        return f"print the logs of its steps with: foliot logs {page.run.id}"
    return None if is_tree else f"{end_text(page.log)}; print it with: foliot logs {page.run.id}"


def _item_fields(run: RunView) -> list[tuple[str, object]]:
    if run.kind is RunKind.REDUCER:
        return [("reducer of", run.parent_id)]
    if run.kind is not RunKind.ITEM:
        return []
    text = f"base64:{run.item_base64}" if run.item is None else run.item
    return [("item", f"{run.item_index} of fanout {run.parent_id}: {text}")]


def _attempt_text(page: RunPage) -> str:
    lost = f", {page.run.lost} lost" if page.run.lost else ""
    given_back = f", {page.given_back} given back when a worker stopped" if page.given_back else ""
    return f"{page.run.attempt}{lost}{given_back}"


def _part_fields(page: RunPage) -> list[tuple[str, object]]:
    if page.execution is None:
        return []
    view = page.execution.execution
    if page.step is not None:
        return [("step", f"{page.step} of {view.workflow_id}, execution {view.id}")]
    drawn = f"foliot workflows show {view.workflow_id} --execution {view.id}"
    version = "" if view.rerun_version is None else f", version {view.rerun_version}"
    return [
        ("workflow", f"{view.workflow_id}, version {view.version}; draw it with: {drawn}"),
        ("repeats", None if view.rerun_of is None else f"{view.rerun_of}{version}"),
    ]


def _chain_fields(part: ChainPartView | None) -> list[tuple[str, object]]:
    if part is None:
        return []
    timeline = f"its timeline: foliot chains show {part.run_id}"
    if part.step is None:
        outcome = f" ({part.outcome.replace('_', ' ')})" if part.outcome else ""
        return [("chain", f"{part.id}, {part.state.replace('_', ' ')}{outcome}; {timeline}"), *_started_by(part)]
    return [
        *_started_by(part),
        ("chain", f"{part.step} of {part.id}; {timeline}"),
        ("because", part.cause),
        ("decided", part.decision),
    ]


def _started_by(part: ChainPartView) -> list[tuple[str, object]]:
    return [("started by", None if part.started_by is None else f"run {part.started_by}")]


def _known(value: Value | None, as_text: Callable[[Value], str]) -> str | None:
    """Return None for a missing value: the field is left out, where a table would have a dash."""
    return None if value is None else as_text(value)


def _progress_text(progress: ProgressView) -> str:
    return f"{progress_bar(progress)} (at {moment(progress.at)})"


def _document_text(document: Any) -> str:
    return json_line(public_document(document))


def _gate_explanation(decision: Decision | None, run: RunView) -> str | None:
    """Return the explanation of the gate, unless the error of the run is the same."""
    return None if decision is None or decision.explanation == run.error_message else decision.explanation


def _attempt_row(attempt: AttemptView) -> Sequence[object]:
    state = f"{attempt.status} ({attempt.reason})" if attempt.reason not in (None, attempt.status) else attempt.status
    code = "-" if attempt.exit_code is None else attempt.exit_code
    error = last_line(attempt.error_message)
    return attempt.attempt, state, moment(attempt.started_at), span(attempt.duration), code, error
