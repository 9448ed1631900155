"""Groups of commands that know them by name and help line, so that help needs none of their modules."""

from collections.abc import Mapping
from importlib import import_module

import click

from foliot.errors import InvalidInput, suggest

Sections = Mapping[str, Mapping[str, str]]
"""Title, and below it the commands with their lines."""


def lazy_group(package: str, sections: Sections) -> type[click.Group]:
    """A class of groups whose command `name` is `command` in the module `name_command` of a package."""
    known = {name: line for section in sections.values() for name, line in section.items()}

    class Commands(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return sorted(known)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name not in known:
                return None
            command = import_module(f"{package}.{cmd_name}_command").command
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
