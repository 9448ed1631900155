"""Command groups that list their commands without loading the modules of these."""

from collections.abc import Mapping
from importlib import import_module
from typing import Final

import click
from click.core import ParameterSource

from foliot.errors import InvalidInput, suggest

Sections = Mapping[str, Mapping[str, str]]
"""Title -> the commands below it, each with its line of help."""
_COMMANDS: Final = "foliot.interfaces.cli.commands"


def lazy_group(sections: Sections, homes: Mapping[str, str]) -> type[click.Group]:
    """Return a group class that imports a command when it is called.

    `homes`: command -> `module:attribute` below `commands`. The default is `NAME:command`.
    """
    known = {name: line for section in sections.values() for name, line in section.items()}

    class Commands(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return sorted(known)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name not in known:
                return None
            module, _, attribute = homes.get(cmd_name, f"{cmd_name}:command").partition(":")
            command = getattr(import_module(f"{_COMMANDS}.{module}"), attribute)
            assert isinstance(command, click.Command)
            return command

        def resolve_command(
            self, ctx: click.Context, args: list[str]
        ) -> tuple[str | None, click.Command | None, list[str]]:
            name = args[0]
            if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
                hint = suggest(name, known, otherwise=f"List the commands with: {ctx.command_path} --help")
                raise InvalidInput(f"command {name[:64]!a} does not exist", hint=hint)
            return super().resolve_command(ctx, args)

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            for title, commands in sections.items():
                with formatter.section(title):
                    formatter.write_dl(list(commands.items()), col_max=12)

    return Commands


def check_option_order(context: click.Context, subcommand: str) -> None:
    """Refuse options before a subcommand: they belong to the list, which is not printed then."""
    for parameter in context.command.params:
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
            option = max(parameter.opts, key=len)
            raise InvalidInput(
                f"{option} is before the command", hint=f"Write: {context.command_path} {subcommand} ... {option}"
            )
