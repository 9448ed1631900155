"""Every command of the command line, those of groups as two words."""

from collections.abc import Iterator

import click

from foliot.interfaces.cli import cli


def all_commands() -> list[str]:
    return sorted(_names(cli, ""))


def command_of(name: str) -> click.Command:
    command: click.Command | None = cli
    for word in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    return command


def _names(group: click.Group, before: str) -> Iterator[str]:
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        yield f"{before}{word}"
        if isinstance(command, click.Group):
            yield from _names(command, f"{before}{word} ")
