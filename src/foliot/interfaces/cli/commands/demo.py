"""foliot demo: a shop with a month of history, to try Foliot out."""

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from foliot.demo.create import LEAST_DAYS, Demo, create_demo
from foliot.domain.secrets import public_url
from foliot.interfaces.cli.place import refuse_server
from foliot.interfaces.cli.server.process import run_node, tune_garbage_collector

_UNSET: Final = (
    "concurrency",
    "lease",
    "poll",
    "misfire_grace",
    "drain",
    "name",
    "loop",
    "log_format",
    "log_level",
    "host",
)
_SERVE: Final[dict[str, Any]] = {**dict.fromkeys(_UNSET), "queues": (), "api": True, "strict": False, "echo": False}
"""The options of `foliot serve`, none of them given."""


@click.command("demo")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("foliot-demo"),
    help="Directory for the files of the demo. Default: foliot-demo.",
)
@click.option("--storage", help="Empty database to fill, instead of foliot.db in the directory.")
@click.option("--days", type=click.IntRange(LEAST_DAYS, 60), default=30, help="Days of history. Default: 30.")
@click.option("--seed", type=int, default=1, help="Seed of the generated history. Default: 1.")
@click.option("--serve/--no-serve", "serves", default=True, help="Whether to serve the demo afterwards. Default: yes.")
@click.option("--more-runs", type=click.IntRange(0, 5_000_000), default=0, help="Number of additional runs of one job.")
@click.option("--port", type=click.IntRange(1, 65_535), help="Port of the HTTP API. Default: 7070.")
def demo(
    directory: Path, storage: str | None, days: int, seed: int, serves: bool, more_runs: int, port: int | None
) -> None:
    """Create a small shop with jobs of every kind and a month of history, and serve it.

    The files are written to a new directory: foliot.toml with the jobs, which are real and harmless, and the database.
    Later starts need only `foliot serve --config foliot-demo/foliot.toml`.
    """
    refuse_server()
    wanted = Demo(directory, storage, days, seed, port, more_runs)
    tune_garbage_collector()
    with _without_log():
        asyncio.run(create_demo(wanted, _progress(days)))
    click.echo(f"Created {wanted.config}, and {days} days of history.")
    if serves:
        # Not the storage of the environment: that would be another one than was filled.
        run_node(None, wanted.config, [], applies=True, storage=wanted.url, port=port, **_SERVE)
    else:
        named = "" if storage is None else f" --storage {public_url(storage)}"
        click.echo(f"Serve it with: foliot serve --config {wanted.config}{named}")


@contextmanager
def _without_log() -> Iterator[None]:
    """Drop what the engine logs: failures that happened a month ago are no news."""
    log = logging.getLogger("foliot")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


def _progress(days: int) -> Callable[[int], None]:
    """Return a function that shows on a terminal how many days are made."""

    def show(day: int) -> None:
        click.echo(f"\rmaking the history: day {day} of {days}", nl=day == days, err=True)

    return show if sys.stderr.isatty() else lambda day: None
