"""foliot workflows: the group and its list; foliot workflows active."""

from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Final

import click

from foliot.interfaces.cli.command_group import check_option_order, lazy_group
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note
from foliot.interfaces.cli.render.execution import execution_document
from foliot.interfaces.cli.render.explanation import explain
from foliot.interfaces.cli.render.format import moment, status
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json as to_json
from foliot.service.queries.executions import ExecutionPage
from foliot.service.queries.workflows import ListedWorkflow

_SECTIONS: Final = {
    "Inspect": {
        "show": "Draw a workflow, with the results of an execution.",
        "active": "List open executions.",
    },
    "Control": {
        "start": "Start an execution.",
        "rerun": "Repeat an execution from failed or given steps.",
        "mark": "Mark a step as a success.",
        "approve": "Approve a step that waits for approval.",
        "reject": "Reject a step that waits for approval.",
        "pause": "Skip a step in executions.",
        "resume": "Run a paused step again.",
        "delete": "Delete workflows.",
    },
}
_HOMES: Final = {
    "show": "workflows.show:command",
    "active": "workflows.listing:active",
    "start": "workflows.start:command",
    **{name: f"workflows.control:{name}" for name in ("rerun", "mark", "approve", "reject", "pause", "resume")},
    "delete": "delete:delete_workflows",
}
_WORKFLOWS: Final = (
    Column("WORKFLOW", is_whole=True),
    Column("VERSION"),
    Column("STEPS"),
    Column("STATE", stays=True),
    Column("LAST EXECUTION", is_whole=True),
    Column("STATUS"),
    Column("NEXT"),
)
_EXECUTIONS: Final = (
    Column("EXECUTION", is_whole=True),
    Column("WORKFLOW", is_whole=True),
    Column("VERSION"),
    Column("STATUS", stays=True),
    Column("STARTED"),
    Column("WHY"),
)


@click.group(
    "workflows", cls=lazy_group(_SECTIONS, _HOMES), invoke_without_command=True, subcommand_metavar="[COMMAND]"
)
@storage_options
@json_option("one object per line")
@click.pass_context
def command(context: click.Context, storage: str | None, config: Path | None, as_json: bool) -> None:
    """List workflows: their newest version, their last execution and when the next one is due.

    The commands draw and delete workflows, start and repeat executions, and approve steps.
    """
    if context.invoked_subcommand is not None:
        check_option_order(context, context.invoked_subcommand)
        return
    found = with_services(storage, config, lambda services: services.queries.workflows.all())
    if as_json:
        print_json_lines(map(to_json, found))
        return
    print_table(_WORKFLOWS, map(_workflow_row, found))
    if not found:
        print_note("no workflows")


def _workflow_row(listed: ListedWorkflow) -> Sequence[object]:
    latest = listed.latest_run
    ran = ("-", "-") if latest is None else (latest.id, status(latest))
    facts = ("-" if known is None else known for known in (listed.id, listed.version, listed.steps))
    return *facts, listed.state, *ran, moment(listed.next_run_at)


@click.command("active")
@storage_options
@click.option("--workflow", help="Only executions of this workflow.", shell_complete=complete_ids("workflow"))
@click.option(
    "-n", "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="Maximum number of rows."
)
@json_option("one object per line")
def active(storage: str | None, config: Path | None, workflow: str | None, limit: int, as_json: bool) -> None:
    """List open executions, oldest first: their progress, and what they wait for."""

    def page(services: Operations) -> Awaitable[list[ExecutionPage]]:
        return services.queries.workflows.active(workflow_id=workflow, limit=limit)

    found = with_services(storage, config, page)
    if as_json:
        print_json_lines(map(execution_document, found))
        return
    print_table(_EXECUTIONS, map(_execution_row, found))
    if not found:
        print_note("no executions in progress")


def _execution_row(page: ExecutionPage) -> Sequence[object]:
    view = page.execution
    return view.id, view.workflow_id, view.version, view.status, moment(view.started_at), explain(page.why)
