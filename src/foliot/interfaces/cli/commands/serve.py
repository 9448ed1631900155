"""foliot serve: run a scheduler, a worker and the HTTP API in one process."""

from pathlib import Path

import click

from foliot.interfaces.cli.options import config_option
from foliot.interfaces.cli.place import refuse_server
from foliot.interfaces.cli.server.process import run_node
from foliot.interfaces.cli.server.settings import node_options, parse_roles


@click.command("serve")
@click.argument("app", required=False)
@config_option
@click.option("--storage", help="Database, instead of that of the configuration or of APP.")
@click.option("--roles", help="Roles of this process. Default: scheduler,coordinator,worker,api.")
@click.option("--host", help="Address of the HTTP API. Default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port of the HTTP API; 0 for any free one. Default: 7070.")
@click.option("--api/--no-api", default=True, help="Whether to serve the HTTP API. Default: yes.")
@click.option("--strict", is_flag=True, help="Do not start if the configuration has errors.")
@node_options
def serve(app: str | None, config: Path | None, roles: str | None, **options: object) -> None:
    """Run the jobs and schedules of a configuration, of APP (written as module:name), or of both.

    Without APP the default is foliot.toml in this directory. The configuration is applied when the server
    starts, on SIGHUP, by `foliot reload`, and with `watch = true` in [server] when a file changes. If its jobs have
    errors, the server logs them and starts with the definitions that were applied last.
    """
    if app is None:
        refuse_server()
    run_node(app, config, parse_roles(roles), applies=True, **options)
