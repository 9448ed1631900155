"""Makes the history of the demo: the shop's jobs run on a virtual clock, from so many days ago until now.

    deploy an early version of shop/foliot.toml -> the engine runs, people do things, the power fails -> deploy again

Everything is decided by the engine and stored by the storage as on any other day. What the jobs do is in `acts`, what
people do in `history`.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from foliot.adapters.runners.approval import ApprovalRunner
from foliot.adapters.secrets import KeyStore
from foliot.config import Configuration, load
from foliot.demo.crowd import add_runs
from foliot.demo.history import DEPLOYER, Deed, Do, deeds_of, power_failure
from foliot.demo.machine import Machine
from foliot.demo.scene import Story
from foliot.demo.shop_files import CALM, EARLY, ShopFiles
from foliot.demo.stage import Stage
from foliot.domain.access.actor import SYSTEM
from foliot.domain.ids import IdSource
from foliot.domain.instant import DAY, MINUTE, Instant, Millis
from foliot.domain.workflow.plan import APPROVAL_KIND
from foliot.errors import FoliotError
from foliot.ports.storage import Storage
from foliot.ports.upkeep import Retention
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from foliot.wiring.runners import build_notifications, build_resolvers
from foliot.wiring.services import build_services

_KINDS: Final = ("shell", "http", "python", "agent")
_BUSY: Final = Millis(45 * MINUTE)
"""For how long before the end the live jobs have run often."""


async def make_history(
    storage: Storage,
    clock: VirtualClock,
    story: Story,
    shop: ShopFiles,
    on_day: Callable[[int], None] = lambda day: None,
    *,
    more_runs: int = 0,
) -> None:
    """Fill an empty storage, whose clock is at the beginning of the story, and advance the clock to its end."""
    random = Random(story.seed)  # noqa: S311 - not a secret
    ids = IdSource(lambda: random.getrandbits(80))
    services = build_services(storage, clock, ids, KeyStore({}))
    first, calm, last = (_read(shop.write(changes), story) for changes in (EARLY, CALM, ()))
    stage = Stage(clock, story)
    machine = Machine(
        storage,
        clock,
        ids,
        stage,
        runners={**dict.fromkeys(_KINDS, stage), APPROVAL_KIND: ApprovalRunner()},
        resolvers=build_resolvers(services),
        notifications=build_notifications(services, last.notifications),
        retention=Retention(*last.retention),
        random=random,
    )
    await _deploy(first, shop)(services.acting_as(DEPLOYER))
    if more_runs:
        await add_runs(storage, clock, ids, more_runs)
    await machine.start()
    deeds = [
        *deeds_of(story),
        Deed(story.ago(4), DEPLOYER, _deploy(calm, shop)),
        Deed(Instant(story.ends - _BUSY), DEPLOYER, _deploy(last, shop)),
    ]
    failure, span = power_failure(story)
    deeds.append(Deed(failure, SYSTEM, lambda services: _fail(machine, span)))
    try:
        for deed in sorted(deeds, key=lambda deed: deed.at):
            await _advance(machine, story, deed.at, on_day)
            await deed.do(services.acting_as(deed.who))
        await _advance(machine, story, story.ends, on_day)
        await machine.stop()
    except BaseException:
        await machine.crash()  # attempts wait for the virtual clock, and would keep the program alive for ever
        raise


async def _advance(machine: Machine, story: Story, moment: Instant, on_day: Callable[[int], None]) -> None:
    """Advance day by day, so that the caller can show how far the history is."""
    while machine.clock.now() < moment:
        await machine.advance_to(min(moment, Instant(machine.clock.now() + DAY)))
        await machine.notify()
        on_day((machine.clock.now() - story.begins) // DAY)


async def _fail(machine: Machine, span: Millis) -> None:
    await machine.crash()
    machine.clock.advance(span)
    await machine.start()


def _deploy(configuration: Configuration, shop: ShopFiles) -> Do:
    """Return the deed of applying a version of the configuration, as a server does when the file was edited."""

    async def do(services: Services) -> None:
        await services.deployer.apply(configuration.declared)

    return do


def _read(path: Path, story: Story) -> Configuration:
    loaded = load(path, {}, story.begins)
    if loaded.configuration is None:
        raise FoliotError(f"{path} has errors: {loaded.errors[0].message}", hint="Install Foliot again.")
    return loaded.configuration
