"""foliot workflows start: an execution, because somebody asks for it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from foliot.domain.workflow.start import read_params
from foliot.errors import InvalidInput
from foliot.interfaces.cli.follow import report_started_run
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.parse import parse_json
from foliot.service.commands.runs import RunRequest
from foliot.service.services import Services


@click.command("start")
@click.argument("workflow", shell_complete=complete_ids("workflow"))
@storage_options
@click.option("--params", help="Parameters as a JSON object; @FILE reads a file.")
@click.option("--param", "pairs", multiple=True, help="One parameter as NAME=VALUE, may repeat; goes before --params.")
@click.option("--version", type=click.IntRange(1), help="Another version than the newest.")
@click.option("--key", help="Dedupe key: asking again with it starts nothing new.")
@click.option("--wait", is_flag=True, help="Wait for the end; exit code 1 unless it is a success.")
@click.option("--follow", is_flag=True, help="Print what the steps print, and wait as --wait does.")
@json_option("one object")
def command(
    workflow: str,
    storage: str | None,
    config: Path | None,
    params: str | None,
    pairs: tuple[str, ...],
    version: int | None,
    key: str | None,
    wait: bool,
    follow: bool,
    as_json: bool,
) -> int:
    """Start an execution of WORKFLOW and print its id.

    The value of a --param is text where the workflow's own is text; else it is read as JSON if it can be.
    """
    whole = None if params is None else parse_json(params, "--params")
    named = _split(pairs)

    async def start(services: Services) -> int:
        spec = (await services.workflows.record(workflow, version)).spec
        read_params(spec, whole)
        given = {**(whole or {}), **{name: _value(text, spec.params.get(name)) for name, text in named.items()}}
        request = RunRequest(dedupe_key=key, trigger="cli")
        run_id = await services.workflows.start(workflow, given or None, version=version, request=request)
        return await report_started_run(services, run_id, wait=wait, follow=follow, is_json=as_json)

    return with_services(storage, config, start)


def _split(pairs: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise InvalidInput(f"--param {pair[:64]!a} is no NAME=VALUE", hint="Write: --param day=2026-01-31")
        if name in named:
            raise InvalidInput(f"parameter {name[:64]!a} is given twice", hint="Give it once.")
        named[name] = value
    return named


def _value(text: str, default: Any) -> Any:
    if isinstance(default, str):
        return text
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return text
