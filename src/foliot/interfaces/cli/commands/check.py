"""foliot check: list all problems of a configuration at once."""

from pathlib import Path

import click

from foliot.config import Loaded, Problem
from foliot.domain.chain.spec import CHAIN
from foliot.interfaces.cli.configuration import count_definitions, print_problems, read_config
from foliot.interfaces.cli.options import config_option, json_option, require_config
from foliot.interfaces.cli.output import print_json_lines, print_line
from foliot.interfaces.cli.progress import progress_note
from foliot.interfaces.cli.render.text import counted, escaped


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@config_option
@json_option("one object per problem")
def command(file: Path | None, config: Path | None, as_json: bool) -> int:
    """Check FILE, foliot.toml by default, for problems. Nothing is stored or started.

    The exit code is 1 if there are errors. Warnings do not change it.
    """
    path = require_config(file or config)
    with progress_note(f"reading {escaped(path)}"):
        loaded = read_config(path)
    if as_json:
        print_json_lines(map(_object, loaded.problems))
    else:
        print_problems(loaded.problems)
        print_line(f"{escaped(path)}: {_summary(loaded)}")
    return 1 if loaded.configuration is None else 0


def _object(problem: Problem) -> dict[str, object]:
    return {
        "severity": problem.severity,
        "file": problem.file,
        "line": problem.line or None,
        "key": problem.key,
        "message": problem.message,
        "hint": problem.hint,
    }


def _summary(loaded: Loaded) -> str:
    warnings = f", {counted(len(loaded.warnings), 'warning')}" if loaded.warnings else ""
    if loaded.configuration is None:
        return f"{counted(len(loaded.errors), 'error')}{warnings}"
    declared = loaded.configuration.declared
    chains = sum(spec.kind == CHAIN for spec in declared.jobs.values())
    counts = count_definitions(
        jobs=len(declared.jobs) - chains,
        workflows=len(declared.workflows),
        chains=chains,
        schedules=len(declared.schedules),
    )
    return f"{counts}, no errors{warnings}"
