"""foliot explain: the path of a run or a planned time, from its tick to its exit."""

from collections.abc import Awaitable
from pathlib import Path
from typing import Final

import click

from foliot.domain.run.reference import LAST
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.output import print_json
from foliot.interfaces.cli.parse import parse_moment
from foliot.interfaces.cli.render.explanation import explain
from foliot.interfaces.cli.render.path import path_document, path_fields, path_rows
from foliot.interfaces.cli.render.table import Column, print_fields, print_section
from foliot.service.operations import Operations
from foliot.service.path import ExplainedPath, StepsStage

_STAGES: Final = (Column("", is_whole=True), Column("STAGE", is_whole=True), Column("WHAT", stays=True))
_STEPS: Final = (
    Column("STEP", is_whole=True),
    Column("RESULT", stays=True),
    Column("RUN", is_whole=True),
    Column("WHY"),
)


@click.command("explain", epilog=f"{NAMING} A time is written in ISO 8601, in UTC unless it has an offset.")
@click.argument("what", metavar="RUN|SCHEDULE@TIME", shell_complete=complete_ids("run", "schedule"))
@storage_options
@json_option("one object")
def command(what: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Explain a run, or a planned time of a schedule, stage by stage: tick, policy, limit, worker, attempts, exit.

    The output names the stage that decides the current status, and says when that can change.
    """

    def ask(services: Operations) -> Awaitable[ExplainedPath]:
        name, _, at = what.rpartition("@")
        if not name or what.endswith(LAST):
            return services.queries.explained.run(what)
        return services.queries.explained.tick(name, parse_moment(at))

    path = with_services(storage, config, ask)
    if as_json:
        print_json(path_document(path))
    else:
        _print(path)


def _print(path: ExplainedPath) -> None:
    print_fields(path_fields(path))
    print_section("", _STAGES, [*path_rows(path)])
    for stage in path.stages:
        if isinstance(stage, StepsStage):
            print_section("Steps", _STEPS, [*_step_rows(stage)])


def _step_rows(stage: StepsStage) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for line in stage.steps:
        recovered = f"recovered by {', '.join(line.recovered_by)}" if line.recovered_by else ""
        reason = explain(line.why) if line.why is not None else ""
        why = "; ".join(filter(None, (recovered, reason)))
        rows.append((line.step, line.result or line.status or "pending", line.run_id or "-", why or "-"))
    return rows
