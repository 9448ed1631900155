"""foliot serve: scheduler and worker of an application in one process."""

import click

from foliot.engine.node import Role
from foliot.interfaces.cli.serving import node_options, run_node


@click.command("serve")
@click.argument("app")
@click.option("--roles", default="scheduler,worker", show_default=True, help="What this process does.")
@node_options
def command(app: str, roles: str, **options: object) -> None:
    """Run the jobs and schedules of APP, written as module:name."""
    chosen = [_role(word.strip()) for word in roles.split(",") if word.strip()]
    run_node(app, chosen, **options)


def _role(word: str) -> Role:
    try:
        return Role(word)
    except ValueError:
        raise click.BadParameter(f"{word!r} is not one of: {', '.join(Role)}", param_hint="--roles") from None
