"""How a node is to behave: what the call says, over what the configuration says, over the defaults."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, get_args

import click
from msgspec.structs import replace

from foliot.config import Configuration
from foliot.config.settings import EventLoop, LogFormat, LogLevel
from foliot.domain.instant import SECOND, Millis
from foliot.domain.job.job import check_name
from foliot.engine.settings import Role, Settings
from foliot.errors import InvalidInput
from foliot.interfaces.cli.numbers import seconds_within
from foliot.ports.upkeep import Retention
from foliot.wiring import node_label

_HOUR: Final = 3_600
_DAY: Final = 86_400
_LONGEST_NAME: Final = 200


def node_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that serve and worker share. Times are seconds and may have fractions."""
    options = (
        click.option("--concurrency", type=click.IntRange(1, 100_000), help="Runs at once, 100 by default."),
        click.option("--queue", "queues", multiple=True, help="Queue to work on, may repeat; default by default."),
        click.option("--lease", type=seconds_within(0.01, _DAY), help="How long a silent worker lives, 60 by default."),
        click.option("--poll", type=seconds_within(0.01, _HOUR), help="Longest rest of a loop, 1 by default."),
        click.option(
            "--misfire-grace",
            type=seconds_within(0.01, _DAY),
            help="How late a tick may be on time, 5 by default.",
        ),
        click.option(
            "--drain",
            type=seconds_within(0, _DAY),
            help="How long running work may go on when it stops, 30 by default.",
        ),
        click.option("--name", help="Label of this process, host:pid by default."),
        click.option("--loop", type=click.Choice(get_args(EventLoop)), help="Event loop, auto by default."),
        click.option("--log-format", type=click.Choice(get_args(LogFormat)), help="auto by default."),
        click.option("--log-level", type=click.Choice(get_args(LogLevel)), help="info by default."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def settings_of(configuration: Configuration, given: Mapping[str, Any], roles: Sequence[Role] = ()) -> Settings:
    """The settings of a node. None in `given` means: not given."""
    server = configuration.server
    poll = _millis(given["poll"]) or server.poll
    return Settings(
        label=_label(given["name"] or server.name),
        roles=roles or [Role(word) for word in server.roles],
        queues=_queues(given["queues"]) or server.queues,
        slots=given["concurrency"] or server.slots,
        scheduler=replace(
            server.scheduler,
            tick=_millis(given["poll"]) or server.scheduler.tick,
            grace=_millis(given["misfire_grace"]) or server.scheduler.grace,
        ),
        lease=_millis(given["lease"]) or server.lease,
        poll=poll,
        drain=server.drain if given["drain"] is None else Millis(round(given["drain"] * SECOND)),
        retention=Retention(*configuration.retention),
    )


def read_roles(text: str | None) -> list[Role]:
    """Roles as `scheduler,worker`; none when nothing was given."""
    if text is None:
        return []
    words = [word.strip() for word in text.split(",") if word.strip()]
    wrong = [word for word in words if word not in list(Role)]
    if wrong or not words:
        named = f"{wrong[0][:32]!r} is not one of" if wrong else "name at least one of"
        raise click.BadParameter(f"{named}: {', '.join(Role)}", param_hint="--roles")
    return list(dict.fromkeys(map(Role, words)))


def _queues(given: Sequence[str]) -> tuple[str, ...]:
    for name in given:
        check_name("queue", name)
    return tuple(dict.fromkeys(given))


def _label(given: str) -> str:
    if not given:
        return node_label()
    if not given.isprintable() or len(given) > _LONGEST_NAME:
        raise InvalidInput("the name is not printable, or too long", hint=f"Use up to {_LONGEST_NAME} characters.")
    return given


def _millis(seconds: float | None) -> Millis | None:
    return None if seconds is None else Millis(max(1, round(seconds * SECOND)))
