"""foliot workflows: graphs of steps, and their executions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from foliot.interfaces.cli.lazy import lazy_group
from foliot.interfaces.cli.misplaced import refuse_misplaced
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import say, tell_objects
from foliot.interfaces.cli.table import Column, moment, print_table
from foliot.interfaces.cli.words import status
from foliot.service.queries.documents import as_json as to_json
from foliot.service.queries.workflows import ListedWorkflow

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
    found = ask(storage, config, lambda services: services.queries.workflows.all())
    if as_json:
        tell_objects(map(to_json, found))
        return
    print_table(_COLUMNS, map(_row, found))
    if not found:
        say("no workflows")


def _row(listed: ListedWorkflow) -> Sequence[object]:
    latest = listed.latest_run
    ran = ("-", "-") if latest is None else (latest.id, status(latest))
    facts = ("-" if known is None else known for known in (listed.id, listed.version, listed.steps))
    return *facts, listed.state, *ran, moment(listed.next_run_at)
