"""foliot next: show when an expression fires."""

from datetime import UTC, datetime
from typing import Final

import click

from foliot import cron
from foliot.errors import InvalidCron
from foliot.interfaces.cli.options import json_option
from foliot.interfaces.cli.output import print_json, print_line, print_note, print_warning
from foliot.interfaces.cli.parse import parse_moment
from foliot.interfaces.cli.render.text import escaped

_AROUND: Final = 60
"""Characters that are shown on either side of an error."""


@click.command("next")
@click.argument("expression")
@click.option("--timezone", "--tz", help="IANA time zone. Default: UTC.")
@click.option(
    "-n", "--count", default=5, show_default=True, type=click.IntRange(1, 10_000), help="Maximum number of rows."
)
@click.option("--from", "start", help="Start at this time instead of now: 2026-03-29T00:00Z.")
@click.option(
    "--dst",
    default="vixie",
    type=click.Choice(["vixie", "skip", "literal"]),
    help="Rule for clock changes. Default: vixie.",
)
@click.option(
    "--dom-dow",
    default="or",
    type=click.Choice(["or", "and"]),
    help="Whether one (or) or both (and) of day-of-month and day-of-week must match. Default: or.",
)
@click.option("--key", help="Name from which H is computed.")
@json_option("one object")
def command(
    expression: str,
    timezone: str | None,
    count: int,
    start: str | None,
    dst: cron.Dst,
    dom_dow: cron.DomDow,
    key: str | None,
    as_json: bool,
) -> None:
    """Show what EXPRESSION means and when it fires next."""
    now = datetime.now(UTC) if start is None else parse_moment(start)
    try:
        compiled = cron.compile(expression, timezone, dst=dst, dom_dow=dom_dow, key=key, anchor=now)
    except InvalidCron as error:
        if not as_json:
            _point_at(error.expression, error.position)
        raise
    fires = compiled.between(now, datetime.max.replace(tzinfo=UTC), count)
    if as_json:
        answer = {"expression": expression, "timezone": compiled.timezone, "description": compiled.describe()}
        print_json({**answer, "next": fires, "warnings": compiled.warnings})
        return
    print_line(compiled.describe())
    for warning in compiled.warnings:
        print_warning(warning)
    for fire in fires:
        print_line(f"  {fire:%a %Y-%m-%d %H:%M:%S %z} {fire.tzname()}")
    if not fires and not compiled.is_manual:
        print_line("  never")


def _point_at(expression: str, position: int) -> None:
    """Print the expression with a mark below the error."""
    start = max(0, position - _AROUND)
    before, after = escaped(expression[start:position]), escaped(expression[position : position + _AROUND])
    print_note(f"  {before}{after}\n  {' ' * len(before)}^")
