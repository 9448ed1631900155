"""foliot workflows start: start an execution."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from foliot.domain.workflow.start import checked_params
from foliot.errors import InvalidInput, NotFound
from foliot.interfaces.cli.follow import report_started_run
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.parse import parse_json
from foliot.service.commands.run_request import RunRequest
from foliot.service.operations import Operations


@click.command("start")
@click.argument("workflow", shell_complete=complete_ids("workflow"))
@storage_options
@click.option("--params", help="Parameters as a JSON object; @FILE reads a file.")
@click.option(
    "--param", "pairs", multiple=True, help="One parameter as NAME=VALUE; may be repeated. Overrides --params."
)
@click.option("--version", type=click.IntRange(1), help="Start this version instead of the newest.")
@click.option("--key", help="Dedupe key: a second call with it starts no second execution.")
@click.option("--wait", is_flag=True, help="Wait until the execution has ended; exit code 1 unless it succeeds.")
@click.option("--follow", is_flag=True, help="Print the output of the steps, and wait as with --wait.")
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

    The value of a --param is text if the default of the parameter is text; otherwise JSON, or text if it is not JSON.
    """
    whole = None if params is None else parse_json(params, "--params")
    named = _split(pairs)

    async def start(services: Operations) -> int:
        defaults = (await services.queries.workflows.page(workflow, version=version)).params
        given = {
            **checked_params(defaults, whole),
            **{name: _value(text, defaults.get(name)) for name, text in named.items()},
        }
        request = RunRequest(dedupe_key=key, trigger="cli")
        run_id = await services.workflows.start(workflow, given or None, version=version, request=request)
        return await report_started_run(services, run_id, wait=wait, follow=follow, is_json=as_json)

    try:
        return with_services(storage, config, start)
    except NotFound as error:
        # Imported here because it loads many modules.
        from foliot.interfaces.cli.configuration import mention_file

        mention_file(error, config)
        raise


def _split(pairs: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise InvalidInput(f"--param {pair[:64]!a} is not NAME=VALUE", hint="Write: --param day=2026-01-31")
        if name in named:
            raise InvalidInput(f"parameter {name[:64]!a} is given twice", hint="Use it once.")
        named[name] = value
    return named


def _value(text: str, default: Any) -> Any:
    if isinstance(default, str):
        return text
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return text
