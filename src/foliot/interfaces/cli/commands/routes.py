"""foliot routes: list the routes of the HTTP API."""

from typing import Final

import click

from foliot.interfaces.api.resources.all import ROUTES
from foliot.interfaces.cli.options import json_option
from foliot.interfaces.cli.output import print_json_lines
from foliot.interfaces.cli.render.table import Column, print_table

_COLUMNS: Final = (
    Column("METHOD", is_whole=True),
    Column("PATH", is_whole=True),
    Column("ROLE", stays=True),
    Column("SUMMARY"),
)


@click.command("routes")
@json_option("one object per route")
def command(as_json: bool) -> None:
    """List every route of the HTTP API, with the least role that may call it."""
    if as_json:
        print_json_lines(
            {
                "method": route.method,
                "path": route.path,
                "role": route.role,
                "permission": str(route.permission),
                "summary": route.summary,
            }
            for route in ROUTES
        )
        return
    print_table(_COLUMNS, [(route.method, route.path, route.role, route.summary) for route in ROUTES])
