"""foliot worker pause, resume, drain: what running workers are to do, with a database or remote."""

from pathlib import Path

import click

from foliot.errors import InvalidInput
from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_result
from foliot.interfaces.cli.render.text import counted
from foliot.service.operations import Operations


@click.command("pause")
@click.argument("names", nargs=-1, required=True)
@storage_options
@json_option("one object per name")
def pause(names: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Give workers no new runs until they are resumed. They finish what they run.

    NAME is the name of a worker, of its enrolment or token (all its workers), or an id. See: foliot top.
    """

    async def run(services: Operations, name: str) -> Result:
        return _result(name, "paused", await services.enrolments.pause(name))

    return run_batch(storage, config, names, run, as_json=as_json)


@click.command("resume")
@click.argument("names", nargs=-1, required=True)
@storage_options
@json_option("one object per name")
def resume(names: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Give paused workers runs again."""

    async def run(services: Operations, name: str) -> Result:
        return _result(name, "resumed", await services.enrolments.resume(name))

    return run_batch(storage, config, names, run, as_json=as_json)


@click.command("drain")
@click.argument("names", nargs=-1)
@click.option("--version", help="All workers with this version of the code, for a rolling update.")
@storage_options
@json_option("one object per name")
def drain(names: tuple[str, ...], version: str | None, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Let workers finish their runs and stop. Start new ones before: a rolling update.

    The worker of foliot serve gets no new runs, but the server does not stop.
    """
    if not names:
        if version is None:
            raise InvalidInput("no worker is named", hint="Give names of workers, or --version.", field="names")
        count = with_services(storage, config, lambda services: services.enrolments.drain(version=version))
        print_result(*_line(_result(f"version {version}", "draining", count)), as_json=as_json)
        return 0

    async def run(services: Operations, name: str) -> Result:
        return _result(name, "draining", await services.enrolments.drain(name, version=version))

    return run_batch(storage, config, names, run, as_json=as_json)


def _result(name: str, done: str, count: int) -> Result:
    return {"name": name, "done": done, "workers": count, "text": f"{done} {name}: {counted(count, 'worker')}"}


def _line(result: Result) -> tuple[str, Result]:
    return str(result["text"]), {name: value for name, value in result.items() if name != "text"}
