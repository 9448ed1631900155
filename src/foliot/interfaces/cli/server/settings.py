"""The settings of a node: options of the command, then the configuration, then defaults."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, get_args

import click
from msgspec.structs import replace

from foliot import __version__
from foliot.config import Configuration
from foliot.config.settings import EventLoop, LogFormat, LogLevel
from foliot.domain.instant import SECOND, Millis
from foliot.domain.job.job import check_name
from foliot.domain.run.lease import WorkerFacts
from foliot.engine.settings import Role, Settings
from foliot.errors import InvalidInput
from foliot.interfaces.cli.parse import seconds_within
from foliot.ports.upkeep import Retention
from foliot.wiring.machine import environment, node_label

_HOUR: Final = 3_600
_DAY: Final = 86_400
_LONGEST_NAME: Final = 200


def node_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that serve and worker share."""
    options = (
        click.option("--concurrency", type=click.IntRange(1, 100_000), help="Concurrent runs. Default: 100."),
        click.option("--queue", "queues", multiple=True, help="Queue to work on; may be repeated. Default: default."),
        click.option(
            "--lease",
            type=seconds_within(0.01, _DAY),
            help="Time after which a silent worker is considered lost. Default: 60s.",
        ),
        click.option(
            "--poll",
            type=seconds_within(0.01, _HOUR),
            help="Longest time between two checks of the database. Default: 1s.",
        ),
        click.option(
            "--misfire-grace",
            type=seconds_within(0.01, _DAY),
            help="How late a tick may be and still be on time. Default: 5s.",
        ),
        click.option(
            "--drain",
            type=seconds_within(0, _DAY),
            help="How long running work may continue when the process stops. Default: 30s.",
        ),
        click.option("--name", help="Name of this process in lists. Default: host:pid."),
        click.option(
            "--code-version",
            envvar="FOLIOT_CODE_VERSION",
            help="Version of the code of the jobs, shown in lists; also FOLIOT_CODE_VERSION. Default: that of Foliot.",
        ),
        click.option("--loop", type=click.Choice(get_args(EventLoop)), help="Event loop. Default: auto."),
        click.option("--log-format", type=click.Choice(get_args(LogFormat)), help="Format of the log. Default: auto."),
        click.option(
            "--log-level", type=click.Choice(get_args(LogLevel)), help="Lowest level that is logged. Default: info."
        ),
        click.option("--echo", is_flag=True, help="Also print the output of Python functions in this process."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def node_settings(configuration: Configuration, given: Mapping[str, Any], roles: Sequence[Role] = ()) -> Settings:
    """Return the settings of a node. None in `given`: the option was not given."""
    server = configuration.server
    poll = _millis(given["poll"]) or server.poll
    return Settings(
        label=_label(given["name"] or server.name),
        roles=[role for role in roles or map(Role, server.roles) if role is not Role.API or given.get("api", True)],
        queues=_names("queue", given["queues"]) or server.queues,
        slots=given["concurrency"] or server.slots,
        scheduler=replace(
            server.scheduler,
            poll=_millis(given["poll"]) or server.scheduler.poll,
            grace=_millis(given["misfire_grace"]) or server.scheduler.grace,
        ),
        lease=_millis(given["lease"]) or server.lease,
        poll=poll,
        drain=server.drain if given["drain"] is None else Millis(round(given["drain"] * SECOND)),
        retention=Retention(*configuration.retention),
        echo=given["echo"] or server.echo,
        facts=WorkerFacts(
            labels=_names("label", given.get("labels", ())),
            version=_printable("version", given.get("code_version") or __version__),
            environment=environment(),
        ),
    )


def parse_roles(text: str | None) -> list[Role]:
    """Return the roles of a text such as `scheduler,worker`; an empty list for None."""
    if text is None:
        return []
    words = [word.strip() for word in text.split(",") if word.strip()]
    wrong = [word for word in words if word not in list(Role)]
    if wrong or not words:
        named = f"{wrong[0][:32]!r} is not one of" if wrong else "name at least one of"
        raise click.BadParameter(f"{named}: {', '.join(Role)}", param_hint="--roles")
    return list(dict.fromkeys(map(Role, words)))


def _names(what: str, given: Sequence[str]) -> tuple[str, ...]:
    for name in given:
        check_name(what, name)
    return tuple(dict.fromkeys(given))


def _label(given: str) -> str:
    return _printable("name", given) if given else node_label()


def _printable(what: str, given: str) -> str:
    if not given.isprintable() or len(given) > _LONGEST_NAME:
        raise InvalidInput(f"the {what} is not printable, or too long", hint=f"Use up to {_LONGEST_NAME} characters.")
    return given


def _millis(seconds: float | None) -> Millis | None:
    return None if seconds is None else Millis(max(1, round(seconds * SECOND)))
