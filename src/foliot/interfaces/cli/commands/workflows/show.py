"""foliot workflows show: draw a workflow."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click

from foliot.errors import InvalidInput
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.output import print_json, print_line
from foliot.interfaces.cli.render.workflow_page import print_workflow, states_of, title_of, workflow_document
from foliot.interfaces.diagrams import dot, mermaid

FORMATS: Final = ("text", "mermaid", "dot", "json")


@click.command("show", epilog=NAMING)
@click.argument("workflow", shell_complete=complete_ids("workflow"))
@storage_options
@click.option("--version", type=click.IntRange(1), help="Show this version instead of the newest.")
@click.option("--execution", help="Show this execution instead of the newest.", shell_complete=complete_ids("run"))
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: text.")
@json_option("one object, as --format json")
def command(
    workflow: str,
    storage: str | None,
    config: Path | None,
    version: int | None,
    execution: str | None,
    form: str | None,
    as_json: bool,
) -> None:
    """Draw WORKFLOW: its steps, their dependencies, and their results in an execution."""
    if as_json and form not in (None, "json"):
        raise InvalidInput(f"--json and --format {form} are mutually exclusive", hint="Use one of them.")

    page = with_services(
        storage,
        config,
        lambda services: services.queries.workflows.page(workflow, version=version, execution=execution),
    )
    match "json" if as_json else form:
        case "json":
            print_json(workflow_document(page))
        case "mermaid":
            _print_lines(mermaid(title_of(page), page.drawing, states_of(page)))
        case "dot":
            _print_lines(dot(title_of(page), page.drawing, states_of(page)))
        case _:
            print_workflow(page)


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print_line(line)
