"""foliot demo: the history is sound, complete and repeatable, and nothing that exists is changed."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import pytest

from foliot.config import load
from foliot.demo.acts import ACTS
from foliot.demo.create import Demo, create_demo
from foliot.demo.shop_files import CALM, EARLY
from foliot.domain.access.trail import AuditEntry
from foliot.domain.ids import JobId
from foliot.domain.instant import LATEST, Instant, from_datetime
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.domain.schedule.tick import REASONS, TickOutcome, TickReason, TickRecord
from foliot.errors import FoliotError
from foliot.ports.audit import AuditFilter
from foliot.ports.pages import RunFilter
from foliot.service.queries.verify import verify
from foliot.service.services import Services
from foliot.wiring.services import open_services
from tests.adapters.storage.postgres.fresh import fresh_database
from tests.cases import for_each

T = TypeVar("T")

ENDS: Final = from_datetime(datetime(2026, 6, 10, 14, 30, tzinfo=UTC))
DAYS: Final = 3
PACKAGED: Final = Path(__file__).parents[2] / "src/foliot/demo/shop/foliot.toml"


class World(NamedTuple):
    """What is stored of a demo."""

    findings: list[str]
    runs: list[Run]
    attempts: list[AttemptRecord]
    ticks: list[TickRecord]
    kinds: set[str]
    trail: list[AuditEntry]
    breakers: dict[str, str]


def make(demo: Demo) -> World:
    asyncio.run(create_demo(demo, ends=ENDS))
    return inspect(demo, read_world)


def inspect(demo: Demo, read: Callable[[Services], Awaitable[T]]) -> T:
    async def opened() -> T:
        services = await open_services(demo.url)
        try:
            return await read(services)
        finally:
            await services.close()

    return asyncio.run(opened())


async def read_world(services: Services) -> World:
    storage = services.storage
    runs = await storage.queries.page_runs(RunFilter(limit=10_000))
    ticks: list[TickRecord] = []
    for ledger in await storage.queries.ledgers(limit=100):
        ticks += await storage.queries.ticks(ledger.schedule.uid, after=Instant(0), until=LATEST, limit=10_000)
    lost = [run for run in runs if run.job_id == "backup-database"]
    return World(
        findings=[f"{one}" async for one in verify(storage, Instant(0)) if not one.is_sound],
        runs=runs,
        attempts=[attempt for run in lost for attempt in await storage.queries.attempts(run.id)],
        ticks=ticks,
        kinds={job.spec.kind for job in await storage.definitions.page_jobs(limit=1_000)},
        trail=await storage.audit.page(AuditFilter(limit=1_000)),
        breakers={one.class_id: (one.document.body or b"").decode() for one in await storage.queries.chain_classes()},
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return Demo(tmp_path_factory.mktemp("demo") / "shop", days=DAYS)


@pytest.fixture(scope="module")
def world(demo: Demo) -> World:
    return make(demo)


def test_verify_finds_no_problems(world: World) -> None:
    assert world.findings == []
    assert len(world.runs) > 500


@for_each("ending", [(outcome, reason) for outcome, reasons in REASONS.items() for reason in sorted(reasons)])
def test_the_ledger_has_every_outcome_and_reason(world: World, ending: tuple[TickOutcome, TickReason]) -> None:
    assert any((tick.outcome, tick.reason) == ending for tick in world.ticks)


@for_each("status", [status for status in Status if status is not Status.CANCELLING])
def test_the_runs_have_every_status_that_lasts(world: World, status: Status) -> None:
    assert any(run.status is status for run in world.runs)


@for_each(
    "reason",
    [
        *(Reason.EXIT_CODE, Reason.CONNECTION, Reason.DEP_FAILED, Reason.STEP_FAILED, Reason.REJECTED, Reason.MARKED),
        *(Reason.CHAIN_ESCALATED, Reason.CHAIN_REFUSED, Reason.TIMEOUT, Reason.CANCELLED),
    ],
)
def test_the_runs_have_the_reasons_of_everyday_failures(world: World, reason: Reason) -> None:
    assert any(run.reason == reason for run in world.runs)


@for_each("kind", ["shell", "http", "python", "agent", "fanout", "graph", "chain"])
def test_there_is_a_job_of_every_kind(world: World, kind: str) -> None:
    assert kind in world.kinds


def test_the_attempt_during_the_power_failure_is_lost_and_repeated(world: World) -> None:
    [lost] = [one for one in world.attempts if one.reason == Reason.LEASE_LOST]

    [run] = [run for run in world.runs if run.id == lost.run_id]
    assert (run.status, run.attempt) == (Status.SUCCESS, 2)


def test_a_breaker_is_open_a_chain_is_active_and_an_approval_waits(world: World) -> None:
    assert '"opened"' in world.breakers["card-payments"]
    assert '"active"' in world.breakers["search-drift"]
    [waiting] = [run for run in world.runs if run.job_id == "release.sign-off" and not run.status.is_terminal]
    assert waiting.status is Status.SCHEDULED


@for_each("actor", ["user:anna", "user:ben", "cli:mira"])
def test_the_audit_trail_names_people(world: World, actor: str) -> None:
    assert len([entry for entry in world.trail if str(entry.actor) == actor]) > 3


def test_the_files_are_the_definitions_that_are_stored(demo: Demo, world: World) -> None:
    loaded = load(demo.config, {}, ENDS)
    assert loaded.configuration is not None
    declared = loaded.configuration.declared

    changes = inspect(demo, lambda services: services.deployer.plan(declared))

    assert loaded.problems == ()
    assert (changes.jobs_to_put, changes.workflows_to_put, changes.schedules_to_put) == ({}, {}, {})
    assert changes.schedules_to_delete == []


def test_the_same_seed_makes_the_same_world(tmp_path: Path, world: World) -> None:
    again = make(Demo(tmp_path / "again", days=DAYS))

    assert (again.runs, again.ticks) == (world.runs, world.ticks)


def test_another_seed_and_more_runs_make_another_world(tmp_path: Path, world: World) -> None:
    other = make(Demo(tmp_path / "other", days=DAYS, seed=2, more_runs=2_500))

    assert other.findings == []
    assert sum(run.job_id == "stock-levels" and run.tick is None for run in other.runs) == 2_500
    assert [run.id for run in other.runs] != [run.id for run in world.runs]


def test_a_database_on_a_server_is_filled_and_then_refused(tmp_path: Path) -> None:
    with fresh_database() as (server, name):
        demo = Demo(tmp_path / "shop", server.dsn(name), days=DAYS)
        filled = make(demo)
        with pytest.raises(FoliotError, match="has jobs, schedules or runs"):
            asyncio.run(create_demo(demo._replace(directory=tmp_path / "other")))

    assert filled.findings == []
    assert {run.status for run in filled.runs} >= {Status.SUCCESS, Status.FAILED, Status.PARTIAL, Status.CANCELLED}
    assert min(run.created_at for run in filled.runs) < ENDS - (DAYS - 1) * 86_400_000
    assert not (tmp_path / "other" / "foliot.toml").exists()


def test_an_existing_file_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "foliot.toml").write_text("mine")

    with pytest.raises(FoliotError, match="exists already") as refused:
        asyncio.run(create_demo(Demo(tmp_path)))

    assert "--directory" in refused.value.hint
    assert [(tmp_path / "foliot.toml").read_text(), *tmp_path.iterdir()] == ["mine", tmp_path / "foliot.toml"]


def test_an_existing_database_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.db").write_text("mine")

    with pytest.raises(FoliotError, match="exists already"):
        asyncio.run(create_demo(Demo(tmp_path / "shop", f"sqlite:///{tmp_path}/mine.db")))

    assert (tmp_path / "mine.db").read_text() == "mine"
    assert not (tmp_path / "shop" / "foliot.toml").exists()


def test_a_history_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(day: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(create_demo(Demo(tmp_path / "shop", days=DAYS), interrupt))

    assert [*(tmp_path / "shop").iterdir()] == []


def test_the_power_failure_may_delay_a_release_beyond_its_answer(tmp_path: Path) -> None:
    """At this time of day the history of three days has its power failure during a release."""
    ends = from_datetime(datetime(2026, 11, 19, 23, 43, tzinfo=UTC))

    asyncio.run(create_demo(Demo(tmp_path / "shop", days=3), ends=ends))

    assert (tmp_path / "shop" / "foliot.toml").exists()


def test_every_job_of_the_file_has_an_act(world: World) -> None:
    started = {run.job_id.removesuffix(".item").removesuffix(".reducer") for run in world.runs}
    trees = {JobId(name) for name in ("nightly-etl", "release", "store-closing")}
    chains = {JobId(name) for name in ("disk-pressure", "search-drift", "card-payments")}

    assert started - ACTS.keys() - trees - chains == {"release.sign-off"}


@for_each("change", sorted({*EARLY, *CALM}))
def test_each_change_of_the_history_is_in_the_file_once(change: tuple[str, str]) -> None:
    assert PACKAGED.read_text().count(change[0]) == 1
