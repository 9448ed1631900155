"""What applying a configuration changes, as text and as JSON documents."""

from collections.abc import Iterator
from typing import Any

from foliot.domain.deploy.deployment import Action, Changes, JobChange, ScheduleChange, WorkflowChange
from foliot.domain.deploy.difference import Difference
from foliot.interfaces.cli.output import print_json, print_line, print_problem
from foliot.interfaces.cli.render.format import json_line
from foliot.interfaces.cli.render.table import Column, print_table

Change = JobChange | WorkflowChange | ScheduleChange

_COLUMNS = (Column("CHANGE"), Column("WHAT"), Column("ID", is_whole=True, stays=True), Column("FIELDS"))


def print_changes(changes: Changes) -> None:
    """Print a table of the changes, and the number of unchanged definitions."""
    different = [(what, change) for what, change in all_changes(changes) if change.action is not Action.UNCHANGED]
    print_table(_COLUMNS, [(change.action, what, change.id, _fields(change)) for what, change in different])
    for refusal in changes.refusals:
        print_problem("error", refusal.message, refusal.hint)
    for former, job_id in changes.apart.items():
        print_problem(
            "warning", f"job {job_id} is not renamed from {former}: both are stored, and each keeps its history"
        )
    same = sum(change.action is Action.UNCHANGED for _, change in all_changes(changes))
    print_line(f"{same} unchanged" if different else f"no changes ({same} unchanged)")


def change_objects(changes: Changes) -> Iterator[dict[str, Any]]:
    for what, change in all_changes(changes):
        fields = [field._asdict() for field in change.fields]
        yield {"type": what, "id": change.id, "change": change.action, "was": change.was, "fields": fields}
    for refusal in changes.refusals:
        yield {"type": refusal.what, "id": refusal.id, "change": "refused", "message": refusal.message}


def print_changes_json(changes: Changes) -> None:
    for one in change_objects(changes):
        print_json(one)


def all_changes(changes: Changes) -> Iterator[tuple[str, Change]]:
    for job in changes.jobs:
        yield "job", job
    for workflow in changes.workflows:
        yield "workflow", workflow
    for schedule in changes.schedules:
        yield "schedule", schedule


def _fields(change: Change) -> str:
    former = [f"was {change.was}"] if change.was else []
    if change.action is Action.REMOVED:
        return "deleted, history kept" if isinstance(change, ScheduleChange) else "disabled, history kept"
    if change.action is Action.CREATED:
        return ""
    return ", ".join([*former, *map(_difference, change.fields)])


def _difference(field: Difference) -> str:
    return f"{field.field}: {_value(field.before)} -> {_value(field.after)}"


def _value(value: Any) -> str:
    return "-" if value is None else json_line(value)
