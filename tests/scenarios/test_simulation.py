"""Simulated clusters with crashes, stalls, clock steps and a lossy broker, driven by a seed.

A seed that fails can be repeated:   FOLIOT_SEED=1234 pytest tests/scenarios/test_simulation.py -k fresh
"""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.fanout import kind as fanout_kind
from foliot.domain.instant import SECOND, Instant, from_datetime
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.domain.workflow.conditions import Result
from foliot.ports.clock import Clock
from foliot.ports.storage import Storage
from foliot.service.queries.verify import verify
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import Oracle, check_invariants, compare_with_oracle, read_histories, read_ledgers
from foliot.testing.simulation.process import OpenStorage
from foliot.testing.simulation.world import World
from tests.domain.cron.oracle import fires
from tests.domain.workflow import reference
from tests.scenarios.crash.chance import fresh_seed

STEPS = 500
FIXED = range(8)
"""Seeds of every test run, two for each beginning. `scripts/soak` tries others."""
SIMULATIONS = int(os.environ.get("FOLIOT_SIMULATIONS") or 1)
"""How many fresh seeds are tried, one after the other. `scripts/soak` asks for more."""
BEGINNINGS = (
    datetime(2026, 1, 1, tzinfo=UTC),
    datetime(2026, 3, 28, 23, 30, tzinfo=UTC),  # Berlin's clocks go forward
    datetime(2026, 11, 1, 4, 30, tzinfo=UTC),  # New York's clocks go back
    datetime(2026, 4, 4, 14, 0, tzinfo=UTC),  # Lord Howe's clocks go back, by half an hour
)


@pytest.fixture
def open_storage(tmp_path: Path) -> OpenStorage:
    return opener_in(tmp_path)


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fanouts create few children ahead, so that small ones are created in several decisions too."""
    monkeypatch.setattr(fanout_kind, "_LEAST_AHEAD", 1)


@pytest.mark.proves(
    "T1", "T2", "T3", "T4", "T5", "T6", "T9", "T10", "T11", "T15", "R4-04", "R4-51", "R1-06", "Q2", "Q3"
)
@pytest.mark.proves("S1", "S3", "S4", "S6", "S10", "L1", "L2", "L4", "L10", "Q5", "R1-21", "R1-22", "M1", "M4", "O2")
@pytest.mark.proves("D2", "D3", "D5", "D6", "D7", "D8", "D9", "F1", "F2", "F3", "F4", "F5", "F6")
@pytest.mark.timeout(360)
@pytest.mark.parametrize("seed", FIXED)
async def test_whatever_happens_everything_holds(seed: int, open_storage: OpenStorage) -> None:
    await tell(seed, open_storage)


@pytest.mark.seeded
@pytest.mark.proves("S6", "T2")
async def test_a_fresh_seed_holds_as_well(tmp_path: Path) -> None:
    first = fresh_seed()
    for seed in range(first, first + SIMULATIONS):
        print(f"FOLIOT_SEED={seed}")
        (tmp_path / str(seed)).mkdir()
        await tell(seed, opener_in(tmp_path / str(seed)))


async def test_the_same_seed_tells_the_same_story(tmp_path: Path) -> None:
    digests = []
    for name in ("once", "again"):
        (tmp_path / name).mkdir()
        world = await World.create(7, VirtualClock(), opener_in(tmp_path / name))
        await world.run(STEPS)
        await world.close()
        digests.append(world.digest)

    assert digests[0] == digests[1]


async def tell(seed: int, open_storage: OpenStorage) -> None:
    """Run the simulation to its end, then check the whole storage."""
    clock = VirtualClock(from_datetime(BEGINNINGS[seed % len(BEGINNINGS)]))
    world = await World.create(seed, clock, open_storage)
    try:
        await world.run(STEPS)
        assert await findings(world) == []
    finally:
        await world.close()


async def findings(world: World) -> list[str]:
    faults = await check_invariants(world.storage, now=world.latest)
    reports = [report async for report in verify(world.storage, Instant(0))]
    faults += [f"verify: {report}" for report in reports if not report.is_sound]
    faults += [fault async for fault in slow_faults(world.storage)]
    faults += [fault async for fault in table_faults(world.storage)]
    if world.has_stepped:
        # Times from before and after a clock was set cannot be compared.
        faults = [fault for fault in faults if not fault.startswith("S2 ")]
    return [f"seed {world.seed}: {fault}" for fault in faults]


async def slow_faults(storage: Storage) -> AsyncIterator[str]:
    """Compare every ledger with an oracle that shares no code with the product."""
    async for book in read_ledgers(storage):
        for fault in compare_with_oracle(book, oracle_of(book.ledger.schedule.id)):
            yield fault


async def table_faults(storage: Storage) -> AsyncIterator[str]:
    """Compare every execution that was not cancelled with the results of a slow reference implementation."""
    runs = {history.run.id: history.run async for history in read_histories(storage)}
    for run_id, execution in (await storage.queries.get_executions(list(runs))).items():
        if runs[run_id].status in (Status.CANCELLED, Status.TIMEOUT):
            continue
        version = (execution.workflow_id, execution.version)
        spec = (await storage.definitions.get_workflows([version]))[version].spec
        states = {step.name: step.state for step in await storage.trees.steps(run_id)}
        # The result of a step with a run or a reason is given; the others are computed.
        turns = {name: state for name, state in states.items() if state.run_id or state.reason}
        endings = {name: turns[name].result or Result.SUCCESS if name in turns else Result.SUCCESS for name in states}
        if {name: state.result for name, state in states.items()} != reference.results(list(spec.steps), endings):
            yield f"D3 execution {run_id} of {version}: {states}"


def oracle_of(schedule_id: str) -> Oracle:
    """Return an oracle that checks each second; `H` is hashed from the id of the schedule."""

    def moments(spec: ScheduleSpec, after: Instant, until: Instant) -> Iterator[Instant]:
        first, last = after // SECOND + 1, until // SECOND
        match spec.type:
            case ScheduleType.CRON:
                epochs = fires(spec.expr, spec.timezone, first, last, spec.dst, spec.dom_dow, schedule_id)
            case ScheduleType.INTERVAL:
                step, anchor = int(spec.expr), (spec.anchor or 0) // SECOND
                epochs = [epoch for epoch in range(max(first, anchor), last + 1) if (epoch - anchor) % step == 0]
            case ScheduleType.ONCE:
                epochs = [int(spec.expr) // SECOND] if first <= int(spec.expr) // SECOND <= last else []
            case ScheduleType.MANUAL | ScheduleType.REBOOT:
                epochs = []
        return iter([Instant(epoch * SECOND) for epoch in epochs])

    return moments


def opener_in(directory: Path) -> OpenStorage:
    async def open_again(clock: Clock, faults: Callable[[str], None]) -> Storage:
        path = directory / "simulation.db"
        opened = await SqliteStorage.open(path, clock=clock, inline=True, faults=faults, synchronous="NORMAL")
        return cast(Storage, opened)

    return open_again
