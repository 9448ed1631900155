"""foliot worker: run a worker, beside a database or with a server, and manage the enrolments of remote workers."""

from pathlib import Path
from typing import Any, Final

import click

from foliot.engine.settings import Role
from foliot.interfaces.cli.command_group import lazy_group
from foliot.interfaces.cli.options import config_option, find_config
from foliot.interfaces.cli.server.process import run_node
from foliot.interfaces.cli.server.remote import run_remote
from foliot.interfaces.cli.server.settings import node_options

_SECTIONS: Final = {
    "Remote workers": {
        "register": "Enrol a worker and print its environment once.",
        "invite": "Print a join token for one worker.",
        "join": "Get the secret of an invited worker.",
        "list": "List the enrolments.",
        "disable": "Refuse the requests of workers.",
        "enable": "Accept them again.",
        "remove": "Remove enrolments.",
    },
    "Running workers": {
        "pause": "Give workers no new runs.",
        "resume": "Give them runs again.",
        "drain": "Let workers finish their runs and stop.",
    },
}
_COMMANDS: Final = frozenset(name for section in _SECTIONS.values() for name in section)
_HOMES: Final = (
    {name: f"enrolment:{name}" for name in _SECTIONS["Remote workers"]}
    | {"list": "enrolment:list_all"}
    | {name: f"worker_order:{name}" for name in _SECTIONS["Running workers"]}
)
_Group: Final[Any] = lazy_group(_SECTIONS, _HOMES)


class WorkerGroup(_Group):  # type: ignore[misc]  # the class is made by a function
    """A command with an argument and with commands below it: a first word that names one of these is that command."""

    allow_extra_args = False
    allow_interspersed_args = True

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options and APP; none of them for the usage of a command below."""
        return list(super().get_params(ctx)) if ctx.command is self else []

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in _COMMANDS:
            ctx._protected_args, ctx.args = args[:1], args[1:]
            return ctx.args
        return click.Command.parse_args(self, ctx, args)


@click.group("worker", cls=WorkerGroup, invoke_without_command=True, subcommand_metavar="[COMMAND]")
@click.argument("app", required=False)
@config_option
@click.option("--storage", help="Database, instead of that of the configuration or of APP.")
@click.option("--server", envvar="FOLIOT_SERVER", help="URL of a server, instead of a database; also FOLIOT_SERVER.")
@click.option(
    "--label",
    "labels",
    multiple=True,
    help="Label that jobs can require; may be repeated. With --server: a label of the enrolment; default: all.",
)
@click.option("--tls-ca", help="With --server: trust only servers with a certificate of these authorities.")
@click.option("--tls-cert", help="With --server: file with the certificate of this worker.")
@click.option("--tls-key", help="With --server: file with its key.")
@click.option("--allow-http", is_flag=True, help="With --server: use plain HTTP also to another machine.")
@node_options
@click.pass_context
def command(
    context: click.Context,
    /,
    app: str | None = None,
    config: Path | None = None,
    server: str | None = None,
    labels: tuple[str, ...] = (),
    **options: Any,
) -> None:
    """Execute runs from the database of a configuration or of APP (written as module:name), or from a server.

    The settings of the configuration are used. Its jobs are not applied: `foliot serve` does that. With --server the
    worker needs no database; FOLIOT_WORKER_ID and FOLIOT_WORKER_SECRET, or FOLIOT_TOKEN, are its credentials.
    """
    if context.invoked_subcommand is not None:
        return
    if server is not None:
        run_remote(app, server, find_config(config), labels, options)
        return
    for name in ("tls_ca", "tls_cert", "tls_key", "allow_http"):
        options.pop(name)
    run_node(app, config, [Role.WORKER], applies=False, labels=labels, **options)
