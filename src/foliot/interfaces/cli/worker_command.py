"""foliot worker: a worker without a scheduler."""

from pathlib import Path

import click

from foliot.engine.settings import Role
from foliot.interfaces.cli.options import config_option
from foliot.interfaces.cli.serving import run_node
from foliot.interfaces.cli.settings import node_options


@click.command("worker")
@click.argument("app", required=False)
@config_option
@click.option("--storage", help="Database, instead of what the configuration or APP says.")
@node_options
def command(app: str | None, config: Path | None, **options: object) -> None:
    """Carry out runs, on the database of a configuration or of APP, written as module:name.

    The configuration says where and how; its jobs are not applied: that is the business of `foliot serve`.
    """
    run_node(app, config, [Role.WORKER], applies=False, **options)
