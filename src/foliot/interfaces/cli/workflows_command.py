"""foliot workflows: graphs of steps, and their executions."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from foliot.domain.ids import JobId
from foliot.domain.secrets import public_document
from foliot.errors import RowUnreadable
from foliot.interfaces.cli.lazy import lazy_group
from foliot.interfaces.cli.listing import all_schedules, all_workflows
from foliot.interfaces.cli.misplaced import refuse_misplaced
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import say, tell_objects
from foliot.interfaces.cli.table import Column, moment, print_table
from foliot.interfaces.cli.words import status
from foliot.ports.executions import WorkflowVersion
from foliot.service.paging import workflow_id_of
from foliot.service.services import Services
from foliot.service.views import RunView, ScheduleView, as_json, view_run

_SECTIONS: Final = {
    "Look": {
        "show": "Draw a workflow and what an execution of it has come to.",
        "active": "List executions that are not over.",
    },
    "Act": {
        "start": "Start an execution.",
        "rerun": "Repeat an execution from steps that failed, or from others.",
        "mark": "Call a step a success by hand.",
        "approve": "Let a step that waits for an answer go on.",
        "reject": "Let a step that waits for an answer fail.",
        "pause": "Let executions skip a step.",
        "resume": "Let executions run a step again.",
        "delete": "Delete workflows.",
    },
}
_COLUMNS: Final = (
    Column("WORKFLOW", is_whole=True),
    Column("VERSION"),
    Column("STEPS"),
    Column("STATE", stays=True),
    Column("LAST EXECUTION", is_whole=True),
    Column("STATUS"),
    Column("NEXT"),
)


class Listed(NamedTuple):
    workflow: WorkflowVersion | RowUnreadable
    latest: RunView | None
    schedules: Sequence[ScheduleView]

    @property
    def next_run_at(self) -> datetime | None:
        coming = [one.next_run_at for one in self.schedules if one.next_run_at is not None and not one.paused]
        return min(coming, default=None)

    @property
    def state(self) -> str:
        if isinstance(self.workflow, RowUnreadable):
            return "unreadable"
        if not self.workflow.spec.enabled:
            return "disabled"
        return "paused" if self.schedules and all(schedule.paused for schedule in self.schedules) else "on"

    def document(self) -> dict[str, Any]:
        return {
            **_definition(self.workflow),
            "state": self.state,
            "latest_run": None if self.latest is None else as_json(self.latest),
            "next_run_at": self.next_run_at,
            "schedules": [schedule.schedule_id for schedule in self.schedules],
        }

    def row(self) -> Sequence[object]:
        ran = ("-", "-") if self.latest is None else (self.latest.id, status(self.latest))
        known = _definition(self.workflow)
        facts = ("-" if known[name] is None else known[name] for name in ("id", "version", "steps"))
        return *facts, self.state, *ran, moment(self.next_run_at)


def _definition(workflow: WorkflowVersion | RowUnreadable) -> dict[str, Any]:
    """Of one that cannot be read nothing is known but its name, and why."""
    if isinstance(workflow, RowUnreadable):
        unknown = dict.fromkeys(("steps", "params"))
        return {"id": workflow.name, "version": None, "description": workflow.message, **unknown}
    return {
        "id": workflow.workflow_id,
        "version": workflow.version,
        "description": workflow.spec.description,
        "steps": len(workflow.spec.steps),
        "params": public_document(workflow.spec.params),
    }


@click.group(
    "workflows",
    cls=lazy_group("foliot.interfaces.cli.workflows", _SECTIONS),
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
)
@storage_options
@json_option("one object per line")
@click.pass_context
def command(context: click.Context, storage: str | None, config: Path | None, as_json: bool) -> None:
    """List workflows: their newest version, their last execution and when the next one is due.

    The commands draw and delete workflows, and start, repeat and answer executions.
    """
    if context.invoked_subcommand is not None:
        refuse_misplaced(context, context.invoked_subcommand)
        return
    found = ask(storage, config, _listed)
    if as_json:
        tell_objects(one.document() for one in found)
        return
    print_table(_COLUMNS, [one.row() for one in found])
    if not found:
        say("no workflows")


async def _listed(services: Services) -> list[Listed]:
    workflows = await all_workflows(services)
    latest = await services.storage.runs.latest([JobId(workflow_id_of(one)) for one in workflows])
    schedules: dict[str, list[ScheduleView]] = {}
    for schedule in await all_schedules(services):
        schedules.setdefault(schedule.workflow_id or schedule.job_id or "", []).append(schedule)
    return [_of(one, latest.get(JobId(workflow_id_of(one))), schedules) for one in workflows]


def _of(workflow: WorkflowVersion | RowUnreadable, run: Any, schedules: dict[str, list[ScheduleView]]) -> Listed:
    return Listed(workflow, None if run is None else view_run(run), schedules.get(workflow_id_of(workflow), []))
