"""Options of a list that stand before one of its commands."""

import click
from click.core import ParameterSource

from foliot.errors import InvalidInput


def refuse_misplaced(context: click.Context, subcommand: str) -> None:
    """An option before the command would be about the list, which is not asked for."""
    for parameter in context.command.params:
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
            option = max(parameter.opts, key=len)
            raise InvalidInput(
                f"{option} stands before the command", hint=f"Write: {context.command_path} {subcommand} ... {option}"
            )
