"""What a call says goes before what the configuration says."""

import socket
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.config import Configuration, RetentionSettings, ServerSettings
from foliot.config.settings import OutboundSettings
from foliot.domain.instant import DAY, SECOND, Millis
from foliot.domain.run.outcome import Failure, Reason
from foliot.domain.schedule.firing import SchedulerSettings
from foliot.engine.settings import Role
from foliot.errors import InvalidInput
from foliot.interfaces.cli.serving import Served
from foliot.interfaces.cli.settings import read_roles, settings_of
from foliot.wiring import build_runners
from tests.adapters.runners.attempts import ListLog, an_attempt

NOTHING = dict.fromkeys(("name", "concurrency", "lease", "poll", "misfire_grace", "drain")) | {"queues": ()}
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


def test_the_configuration_says_how_a_node_behaves() -> None:
    settings = settings_of(SAID, NOTHING)

    assert (settings.label, settings.roles, settings.queues, settings.slots) == (
        "north",
        [Role.SCHEDULER],
        ("mail",),
        7,
    )
    assert (settings.lease, settings.poll, settings.drain) == (20_000, 2_000, 3_000)
    assert (settings.scheduler.tick, settings.scheduler.grace) == (1_000, 9_000)
    assert settings.retention.runs_age == DAY


def test_a_call_goes_before_it() -> None:
    given = {
        "name": "south",
        "concurrency": 1,
        "lease": 0.5,
        "poll": 0.25,
        "misfire_grace": 1.0,
        "drain": 0.0,
        "queues": ("a", "b", "a"),
    }

    settings = settings_of(SAID, given, [Role.WORKER])

    assert (settings.label, settings.roles, settings.queues, settings.slots) == ("south", [Role.WORKER], ("a", "b"), 1)
    assert (settings.lease, settings.poll, settings.drain) == (500, 250, 0)
    assert (settings.scheduler.tick, settings.scheduler.grace) == (250, 1_000)


def test_without_either_there_are_defaults() -> None:
    settings = settings_of(Configuration(), NOTHING)

    assert (set(settings.roles), settings.queues, settings.slots) == (set(Role), ("default",), 100)
    assert ":" in settings.label


@pytest.mark.parametrize("name", ["\x1b[2J", "two\nlines", "x" * 201])
def test_a_name_that_cannot_be_shown(name: str) -> None:
    with pytest.raises(InvalidInput, match="not printable, or too long"):
        settings_of(SAID, {**NOTHING, "name": name})


def test_roles_are_read_once_each() -> None:
    assert read_roles(None) == []
    assert read_roles("worker, scheduler,worker") == [Role.WORKER, Role.SCHEDULER]


@pytest.mark.proves("Z44", "Z56")
async def test_what_the_server_allows_reaches_every_runner_that_it_concerns() -> None:
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


@pytest.mark.parametrize(
    ("outbound", "reason"),
    [
        (OutboundSettings(block_private=True), Reason.SSRF_BLOCKED),
        (OutboundSettings(block_private=True, allow=("127.0.0.0/8",)), Reason.CONNECTION),
        (OutboundSettings(), Reason.CONNECTION),
    ],
)
async def test_the_addresses_that_the_configuration_blocks_are_blocked_for_http_jobs(
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
