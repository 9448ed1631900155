"""foliot trigger: start a run of a job, now or later."""

from pathlib import Path
from typing import Final

import click

from foliot.errors import InvalidInput, NotFound
from foliot.interfaces.cli.follow import report_started_run
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.parse import parse_json, parse_moment, parse_span
from foliot.service.commands.run_request import RunRequest
from foliot.service.operations import Operations

_AT: Final = 'Use ISO 8601, such as "2026-01-31T08:00Z"; for a duration from now use --delay.'


@click.command("trigger")
@click.argument("job", shell_complete=complete_ids("job"))
@storage_options
@click.option("--payload", help="Payload of the run as JSON, instead of that of the job; @FILE reads a file.")
@click.option("--at", help="Start at this time, in ISO 8601: 2026-01-31T08:00Z.")
@click.option("--delay", help="Start after this time: 90s, 15m, 24h.")
@click.option("--priority", type=click.IntRange(-1_000, 1_000), help="Higher priorities start first.")
@click.option("--key", help="Dedupe key: a second call with it starts no second run.")
@click.option("--wait", is_flag=True, help="Wait until the run has ended; exit code 0 for success and partial, else 1.")
@click.option("--follow", is_flag=True, help="Print the output of the run or its steps, and wait as with --wait.")
@json_option("one object")
def command(
    job: str,
    storage: str | None,
    config: Path | None,
    payload: str | None,
    at: str | None,
    delay: str | None,
    priority: int | None,
    key: str | None,
    wait: bool,
    follow: bool,
    as_json: bool,
) -> int:
    """Start a run of JOB and print its id. For a workflow, start an execution with the payload as parameters."""
    if at is not None and delay is not None:
        raise InvalidInput("--at and --delay are mutually exclusive", hint="Leave out one of them.")
    request = RunRequest(
        payload=None if payload is None else parse_json(payload, "--payload"),
        run_at=None if at is None else parse_moment(at, hint=_AT),
        delay=None if delay is None else parse_span(delay),
        dedupe_key=key,
        options={} if priority is None else {"priority": priority},
        trigger="cli",
    )

    async def trigger(services: Operations) -> int:
        run_id = await services.workflows.trigger(job, request)
        return await report_started_run(services, run_id, wait=wait, follow=follow, is_json=as_json)

    try:
        return with_services(storage, config, trigger)
    except NotFound as error:
        # Imported here because it loads many modules.
        from foliot.interfaces.cli.configuration import mention_file

        mention_file(error, config)
        raise
