"""foliot progress: report, from inside a job, how far its run has come."""

import os

import click

from foliot.channel.client import from_environment
from foliot.domain.run.progress import read_progress
from foliot.errors import InvalidInput


@click.command("progress")
@click.argument("fraction")
@click.argument("text", nargs=-1)
def command(fraction: str, text: tuple[str, ...]) -> None:
    """Report how far the run of this job has come: FRACTION is 0.4 or 40%, TEXT is for people.

    Call it inside a job. `foliot top` and `foliot show RUN` show the latest report. It needs no configuration and no
    database: the worker gives each job a socket, in FOLIOT_CHANNEL, and a token for this run, in FOLIOT_RUN_TOKEN.
    """
    client = from_environment(os.environ)
    progress = read_progress(_parse(fraction), " ".join(text))
    client.ask("progress", fraction=progress.fraction, text=progress.text)


def _parse(fraction: str) -> float:
    number, percent, rest = fraction.strip().partition("%")
    try:
        value = float(number if not rest else fraction)
    except ValueError:
        raise InvalidInput(f"{fraction[:64]!a} is not a number", hint="Write 0.4 or 40%.", field="fraction") from None
    return value / 100 if percent else value
