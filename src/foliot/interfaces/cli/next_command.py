"""foliot next: when does this expression fire?"""

import json
from datetime import UTC, datetime

import click

from foliot import cron
from foliot.errors import InvalidCron


@click.command("next")
@click.argument("expression")
@click.option("--tz", help="IANA zone of the wall clock, UTC by default.")
@click.option("-n", "--count", default=5, show_default=True, type=click.IntRange(1, 10_000), help="How many.")
@click.option("--from", "start", type=click.DateTime(), help="Look from this moment (UTC) instead of now.")
@click.option("--dst", default="vixie", type=click.Choice(["vixie", "skip", "literal"]), help="Rule for clock changes.")
@click.option("--key", help="Name to hash H from.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    expression: str, tz: str | None, count: int, start: datetime | None, dst: cron.Dst, key: str | None, as_json: bool
) -> None:
    """Show what EXPRESSION means and when it fires next."""
    now = datetime.now(UTC) if start is None else start.replace(tzinfo=UTC)
    try:
        compiled = cron.compile(expression, tz, dst=dst, key=key, anchor=now)
    except InvalidCron as error:
        click.echo(f"  {error.expression[:200]}\n  {' ' * error.position}^", err=True)
        raise
    fires = compiled.between(now, datetime.max.replace(tzinfo=UTC), count)
    if as_json:
        moments = [fire.isoformat() for fire in fires]
        answer = {"expression": expression, "timezone": compiled.timezone, "description": compiled.describe()}
        click.echo(json.dumps({**answer, "next": moments, "warnings": compiled.warnings}))
        return
    click.echo(compiled.describe())
    for warning in compiled.warnings:
        click.echo(f"warning: {warning}", err=True)
    for fire in fires:
        click.echo(f"  {fire:%a %Y-%m-%d %H:%M:%S %z} {fire.tzname()}")
    if not fires:
        click.echo("  never by itself")
