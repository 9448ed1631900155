"""The command line. Each command lives in a module of its own that is loaded when it is called.

Exit codes: 0 done, 1 it could not be done or something is wrong, 2 the call itself was wrong.
"""

import sys
from importlib import import_module
from typing import Any, Final

import click

import foliot
from foliot.errors import FoliotError, InvalidInput

_COMMANDS: Final = {
    "next": "Show when an expression fires next.",
    "runs": "List runs, newest first.",
    "serve": "Run scheduler and worker of an application.",
    "verify": "Check the tick ledger against the schedules.",
    "worker": "Run a worker of an application.",
}


class _Commands(click.Group):
    """Knows its commands by name and help line, so that help needs none of their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(f"foliot.interfaces.cli.{cmd_name}_command").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(foliot.__version__, prog_name="foliot")
def cli() -> None:
    """Foliot turns planned moments into work that is done, once, and can be proved."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; errors that help instead of tracebacks."""
    try:
        return cli.main(arguments, prog_name="foliot")
    except FoliotError as error:
        click.echo(f"foliot: {error.message}", err=True)
        if error.hint:
            click.echo(f"  {error.hint}", err=True)
        sys.exit(2 if isinstance(error, InvalidInput) else 1)
