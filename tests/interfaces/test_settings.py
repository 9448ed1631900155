"""The settings of a node: options, configuration, defaults."""

import socket
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.config import Configuration, RetentionSettings, ServerSettings
from foliot.config.settings import FanoutSettings, OutboundSettings
from foliot.domain.instant import DAY, SECOND, Millis
from foliot.domain.run.outcome import Failure, Reason
from foliot.domain.schedule.firing import SchedulerSettings
from foliot.engine.settings import Role
from foliot.errors import InputsError, InvalidInput
from foliot.interfaces.cli.server.process import Served
from foliot.interfaces.cli.server.settings import node_settings, parse_roles
from foliot.wiring.runners import build_resolvers, build_runners
from tests.adapters.resolvers.resolving import items
from tests.adapters.runners.attempts import ListLog, an_attempt

NOTHING = dict.fromkeys(("name", "concurrency", "lease", "poll", "misfire_grace", "drain", "echo")) | {"queues": ()}
SAID = Configuration(
    server=ServerSettings(
        name="north",
        roles=("scheduler",),
        queues=("mail",),
        slots=7,
        scheduler=SchedulerSettings(grace=Millis(9 * SECOND)),
        lease=Millis(20 * SECOND),
        poll=Millis(2 * SECOND),
        drain=Millis(3 * SECOND),
    ),
    retention=RetentionSettings(runs_age=Millis(DAY)),
)


def test_the_configuration_sets_the_settings_of_a_node() -> None:
    settings = node_settings(SAID, NOTHING)

    assert (settings.label, settings.roles, settings.queues, settings.slots) == (
        "north",
        [Role.SCHEDULER],
        ("mail",),
        7,
    )
    assert (settings.lease, settings.poll, settings.drain) == (20_000, 2_000, 3_000)
    assert (settings.scheduler.poll, settings.scheduler.grace) == (1_000, 9_000)
    assert settings.retention.runs_age == DAY


def test_options_override_the_configuration() -> None:
    given = {
        "name": "south",
        "concurrency": 1,
        "lease": 0.5,
        "poll": 0.25,
        "misfire_grace": 1.0,
        "drain": 0.0,
        "echo": True,
        "queues": ("a", "b", "a"),
    }

    settings = node_settings(SAID, given, [Role.WORKER])

    assert (settings.label, settings.roles, settings.queues, settings.slots) == ("south", [Role.WORKER], ("a", "b"), 1)
    assert (settings.lease, settings.poll, settings.drain, settings.echo) == (500, 250, 0, True)
    assert (settings.scheduler.poll, settings.scheduler.grace) == (250, 1_000)


def test_a_node_without_options_and_configuration_has_defaults() -> None:
    settings = node_settings(Configuration(), NOTHING)

    assert (set(settings.roles), settings.queues, settings.slots) == (set(Role), ("default",), 100)
    assert ":" in settings.label


@pytest.mark.parametrize("name", ["\x1b[2J", "two\nlines", "x" * 201])
def test_a_name_that_is_not_printable_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="not printable, or too long"):
        node_settings(SAID, {**NOTHING, "name": name})


def test_repeated_roles_are_used_once() -> None:
    assert parse_roles(None) == []
    assert parse_roles("worker, scheduler,worker") == [Role.WORKER, Role.SCHEDULER]


@pytest.mark.proves("Z44", "Z56")
async def test_the_policies_of_the_server_reach_every_runner() -> None:
    server = ServerSettings(allow_users=(), allow_modules=("shop",))
    served = Served(Foliot(), None, Path("foliot.toml"), Configuration(server=server), frozenset())
    runners = build_runners({}, served.app.launcher, 1, served.policy)
    asked: dict[str, dict[str, Any]] = {
        "shell": {"command": "x"},
        "agent": {"prompt": "x"},
        "python": {"call": "shop:sell"},
    }

    for kind, spec in asked.items():
        outcome = await runners[kind].run(an_attempt(log=ListLog(), user="root", **spec))
        assert "may not run as user 'root'" in getattr(outcome, "error", "")
    outcome = await runners["python"].run(an_attempt(log=ListLog(), call="os:system"))
    assert "may not call module 'os'" in getattr(outcome, "error", "")


@pytest.mark.parametrize(
    ("outbound", "reason"),
    [
        (OutboundSettings(block_private=True), Reason.SSRF_BLOCKED),
        (OutboundSettings(block_private=True, allow=("127.0.0.0/8",)), Reason.CONNECTION),
        (OutboundSettings(), Reason.CONNECTION),
    ],
)
async def test_addresses_blocked_by_the_configuration_are_blocked_for_http_jobs(
    outbound: OutboundSettings, reason: Reason
) -> None:
    served = Served(Foliot(), None, Path("foliot.toml"), Configuration(outbound=outbound), frozenset())
    runners = build_runners({}, served.app.launcher, 1, served.policy)
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody_listens.getsockname()[1]}/"

        outcome = await runners["http"].run(an_attempt(url=url))

    assert isinstance(outcome, Failure)
    assert outcome.reason is reason


async def test_the_configuration_restricts_the_sources_of_fanouts(tmp_path: Path) -> None:
    configuration = Configuration(
        fanout=FanoutSettings(file_roots=(tmp_path / "lists",), inputs_timeout=Millis(7 * SECOND)),
        dsns={"main": "sqlite:////srv/shop.db"},
        outbound=OutboundSettings(block_private=True),
    )
    (tmp_path / "secret").touch()
    app = Foliot(f"sqlite:///{tmp_path}/foliot.db")
    served = Served(app, None, tmp_path / "foliot.toml", configuration, frozenset())
    async with app:
        resolvers = build_resolvers(await app.open(), served.policy)

    assert set(resolvers) >= {"file", "http", "https", "sql", "job"}
    assert served.policy.inputs_seconds == 7
    for uri, message in {
        f"file://{tmp_path}/secret": "not in an allowed directory",
        "http://127.0.0.1:1/x": "loopback address, which is blocked",
        "sql://main?SELECT 1": "could not be opened",
    }.items():
        with pytest.raises(InputsError, match=message):
            await items(resolvers[uri.partition(":")[0]], uri)
