"""foliot worker: a worker of an application, without a scheduler."""

import click

from foliot.engine.node import Role
from foliot.interfaces.cli.serving import node_options, run_node


@click.command("worker")
@click.argument("app")
@node_options
def command(app: str, **options: object) -> None:
    """Carry out runs of APP, written as module:name."""
    run_node(app, [Role.WORKER], **options)
