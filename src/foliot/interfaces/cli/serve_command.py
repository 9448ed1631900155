"""foliot serve: scheduler and worker in one process."""

from pathlib import Path

import click

from foliot.interfaces.cli.options import config_option
from foliot.interfaces.cli.serving import run_node
from foliot.interfaces.cli.settings import node_options, read_roles


@click.command("serve")
@click.argument("app", required=False)
@config_option
@click.option("--storage", help="Database, instead of what the configuration or APP says.")
@click.option("--roles", help="What this process does: scheduler,coordinator,worker by default.")
@node_options
def command(app: str | None, config: Path | None, roles: str | None, **options: object) -> None:
    """Run the jobs and schedules of a configuration, or of APP, written as module:name, or of both.

    Without APP and without --config it is foliot.toml in this directory. The configuration is applied when the
    server starts, on SIGHUP, by `foliot reload`, and with `watch = true` in [server] whenever a file changes.
    """
    run_node(app, config, read_roles(roles), applies=True, **options)
