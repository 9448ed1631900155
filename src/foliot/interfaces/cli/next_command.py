"""foliot next: when does this expression fire?"""

from datetime import UTC, datetime
from typing import Final

import click

from foliot import cron
from foliot.errors import InvalidCron
from foliot.interfaces.cli.moments import read_moment
from foliot.interfaces.cli.options import json_option
from foliot.interfaces.cli.speaking import say, tell, tell_json, warn
from foliot.interfaces.cli.text import shown

_AROUND: Final = 60
"""Characters that are shown on either side of a fault."""


@click.command("next")
@click.argument("expression")
@click.option("--timezone", "--tz", help="IANA zone of the wall clock, UTC by default.")
@click.option("-n", "--count", default=5, show_default=True, type=click.IntRange(1, 10_000), help="How many.")
@click.option("--from", "start", help="Look from this moment instead of now: 2026-03-29T00:00Z.")
@click.option("--dst", default="vixie", type=click.Choice(["vixie", "skip", "literal"]), help="Rule for clock changes.")
@click.option(
    "--dom-dow",
    default="or",
    type=click.Choice(["or", "and"]),
    help="Whether one or both of day-of-month and day-of-week must match.",
)
@click.option("--key", help="Name to hash H from.")
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
    now = datetime.now(UTC) if start is None else read_moment(start)
    try:
        compiled = cron.compile(expression, timezone, dst=dst, dom_dow=dom_dow, key=key, anchor=now)
    except InvalidCron as error:
        _point_at(error.expression, error.position)
        raise
    fires = compiled.between(now, datetime.max.replace(tzinfo=UTC), count)
    if as_json:
        answer = {"expression": expression, "timezone": compiled.timezone, "description": compiled.describe()}
        tell_json({**answer, "next": fires, "warnings": compiled.warnings})
        return
    tell(compiled.describe())
    for warning in compiled.warnings:
        warn(warning)
    for fire in fires:
        tell(f"  {fire:%a %Y-%m-%d %H:%M:%S %z} {fire.tzname()}")
    if not fires:
        tell("  never by itself")


def _point_at(expression: str, position: int) -> None:
    """Show the fault where it is, with what stands around it."""
    start = max(0, position - _AROUND)
    before, after = shown(expression[start:position]), shown(expression[position : position + _AROUND])
    say(f"  {before}{after}\n  {' ' * len(before)}^")
