"""The probes of `foliot doctor`: each finds its problem, and nothing else."""

from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from foliot.adapters.storage.sqlite.storage import SqliteStorage
from foliot.adapters.storage.sqlite.upkeep import SqliteUpkeep
from foliot.domain.clock import ClockReading
from foliot.domain.ids import JobId, WorkerId
from foliot.domain.instant import DAY, HOUR, MINUTE, Instant
from foliot.domain.job.job import Job, JobSpec
from foliot.domain.run.lease import Worker, WorkerState
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.errors import Place, Problem, Severity, StorageUnavailable
from foliot.ports.health import Depth, HealthDetails, StorageSize
from foliot.ports.host import HostFacts
from foliot.service.queries.clock_notices import ClocksDiffer, ClockSetBack
from foliot.service.queries.doctor.findings import (
    ConfigProblem,
    DatabaseReadable,
    FewDescriptors,
    Finding,
    GuardOff,
    LimitsPerProcess,
    LogsLarge,
    MovedTick,
    ProbeFailed,
    ProgramMissing,
    RowsUnreadable,
    RunsLong,
    SecretsReadable,
    StorageDamaged,
    StorageReadOnly,
    TicksMoved,
    WorkersLost,
)
from foliot.service.queries.doctor.host import ConfigFacts, probe_control_groups, probe_programs
from foliot.service.queries.doctor.report import Doctor, Report
from foliot.service.queries.doctor.stored import probe_leases, probe_storage
from foliot.testing.builders import a_run, every
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage.scene import Scene

SERVER = {"no_scheduler", "no_worker"}
"""No server runs in these tests."""


class FakeHost:
    """A machine on which everything is as a test says."""

    def __init__(self, *, files: int = 1_000, readable: Sequence[str] = (), controllers: Sequence[str] = ()) -> None:
        self.given = HostFacts(False, files, files // 4, frozenset(controllers))
        self.readable = readable
        self.processes: Sequence[str] = ()

    def facts(self, processes: Sequence[str]) -> HostFacts:
        self.processes = processes
        return self.given

    def has_program(self, name: str) -> bool:
        return name == "claude"

    def is_readable_by_all(self, path: str) -> bool:
        return path in self.readable


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def scene(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Scene]:
    storage = await SqliteStorage.open(tmp_path / "foliot.db", clock=clock)
    yield Scene(storage, clock)
    await storage.close()


async def examine(scene: Scene, config: ConfigFacts | None = None, host: FakeHost | None = None) -> Report:
    doctor = Doctor(host or FakeHost(), config or ConfigFacts(), "foliot.db")
    return await doctor.with_storage(scene.storage, scene.clock)


async def found(scene: Scene, config: ConfigFacts | None = None, host: FakeHost | None = None) -> list[Finding]:
    """Return the findings, except that no server runs."""
    return [one for one in (await examine(scene, config, host)).findings if code_of(one) not in SERVER]


def code_of(finding: Finding) -> str:
    return str(type(finding).__struct_config__.tag)


def spoil(tmp_path: Path, statement: str) -> None:
    with closing(apsw.Connection(str(tmp_path / "foliot.db"))) as connection:
        connection.execute(statement)


def a_job(kind: str, job_id: str = "report", **spec: Any) -> Job:
    return Job(
        id=JobId(job_id),
        project="default",
        spec=JobSpec(kind=kind, spec=spec),
        revision=1,
        created_at=START,
        updated_at=START,
    )


def health(*, workers: Sequence[WorkerState] = (), size: StorageSize | None = None) -> HealthDetails:
    return HealthDetails(
        has_scheduler=True,
        workers=workers,
        depth=Depth(0, 0, 0),
        ready_queues=[],
        late=[],
        late_count=0,
        failing=[],
        failing_count=0,
        stopped=[],
        size=size or StorageSize(1, 1, None),
        project_pause=None,
    )


async def test_a_sound_installation_has_no_findings(scene: Scene) -> None:
    await scene.schedule(ScheduleSpec(type=ScheduleType.CRON, expr="0 9 * * *", timezone="Europe/Berlin", job_id=None))
    await scene.start(a_run())

    assert await found(scene) == []


async def test_without_a_server_its_absence_is_an_error(scene: Scene) -> None:
    report = await examine(scene)

    assert {code_of(one) for one in report.findings} == SERVER
    assert report.worst is Severity.ERROR


# -- configuration and machine


async def test_problems_of_the_configuration_are_findings_of_the_same_severity(scene: Scene) -> None:
    problem = Problem(Severity.WARNING, Place("foliot.toml", 7, "jobs"), "the key does nothing", "Remove it.")

    [finding] = await found(scene, ConfigFacts(problems=[problem]))

    assert isinstance(finding, ConfigProblem)
    assert (finding.file, finding.line, finding.severity) == ("foliot.toml", 7, Severity.WARNING)


async def test_secrets_in_a_file_that_all_may_read_are_found(scene: Scene) -> None:
    config = ConfigFacts(secrets={"open.toml": ["server.admin_token"], "closed.toml": ["a"], "plain.toml": []})

    assert await found(scene, config, FakeHost(readable=["open.toml", "plain.toml", "foliot.db"])) == [
        SecretsReadable(file="open.toml", keys=("server.admin_token",)),
        DatabaseReadable(file="foliot.db"),
    ]


async def test_a_guard_that_is_off_in_production_is_found(scene: Scene) -> None:
    assert await found(scene, ConfigFacts(is_guard_off=True)) == [GuardOff()]


async def test_too_few_open_files_for_the_concurrency_are_found(scene: Scene) -> None:
    [finding] = await found(scene, ConfigFacts(slots=100), FakeHost(files=40))

    assert finding == FewDescriptors(allowed=40, enough_for=10, slots=100, is_server=False)


async def test_the_process_of_a_living_worker_is_examined(scene: Scene) -> None:
    host = FakeHost()
    worker = Worker(WorkerId("w"), "north", ("default",), 1_000, process="boot 1 2 3")
    await scene.storage.work.register(worker, HOUR)

    findings = await found(scene, host=host)

    assert host.processes == ["boot 1 2 3"]
    assert [code_of(one) for one in findings] == ["few_descriptors"]


def test_limits_that_need_a_control_group_are_found() -> None:
    jobs = [a_job("shell", limits={"memory": 1 << 20, "processes": 5}), a_job("shell", "other", limits={"files": 9})]

    [finding] = probe_control_groups(FakeHost(controllers=["pids"]).given, jobs)

    assert finding == LimitsPerProcess(jobs=("report",), missing=("memory",), is_server=False)
    assert not list(probe_control_groups(FakeHost(controllers=["pids", "memory"]).given, jobs))


def test_a_missing_program_of_agent_jobs_is_found() -> None:
    own_path = a_job("agent", "own-path", cli=["other"], env={"PATH": "/opt"})
    jobs = [a_job("agent", prompt="x"), a_job("agent", "two", cli=["other", "-x"]), own_path, a_job("shell", "three")]

    assert list(probe_programs(jobs, FakeHost())) == [ProgramMissing(program="other", jobs=("two",))]


# -- database


async def test_a_database_that_cannot_be_written_is_found(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_: object) -> None:
        raise StorageUnavailable("the disk is full", hint="Free some space.")

    monkeypatch.setattr(SqliteUpkeep, "probe", refuse)

    assert await found(scene) == [StorageReadOnly(message="the disk is full", hint="Free some space.")]


async def test_a_damaged_file_is_found(scene: Scene, tmp_path: Path) -> None:
    await scene.schedule(every(60))
    await scene.storage.close()
    path = tmp_path / "foliot.db"
    with closing(apsw.Connection(str(path))) as connection:
        [(root,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'dedupe_by_run'")
        [(size,)] = connection.execute("PRAGMA page_size")
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    storage = await SqliteStorage.open(path, clock=scene.clock)

    [finding] = await found(Scene(storage, scene.clock))
    await storage.close()

    assert isinstance(finding, StorageDamaged)


async def test_large_logs_are_found(scene: Scene) -> None:
    size = StorageSize(1, 2 << 30, None)

    assert [one async for one in probe_storage(scene.storage, health(size=size))] == [LogsLarge(size=2 << 30)]


async def test_a_probe_that_fails_is_a_finding_and_the_others_are_carried_out(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> ClockReading:
        raise StorageUnavailable("no answer", hint="Wait.")

    monkeypatch.setattr(SqliteUpkeep, "read_clocks", fail)
    report = await examine(scene)

    assert ProbeFailed(message="no answer", hint="Wait.") in report.findings
    assert [check.name for check in report.checks][-1] == "programs"


def test_workers_that_were_lost_long_ago_are_found_with_their_runs() -> None:
    def state(name: str, seen: int, *, is_alive: bool = False) -> WorkerState:
        return WorkerState(Worker(WorkerId(name), name, ("default",), 1), START, Instant(seen), is_alive, 3)

    workers = [state("lost", START), state("recent", START + 6 * MINUTE), state("alive", START, is_alive=True)]

    [finding] = probe_leases(health(workers=workers), Instant(START + 10 * MINUTE))

    assert finding == WorkersLost(workers=("lost",), running=3)


async def test_runs_that_take_more_than_a_day_are_found(scene: Scene) -> None:
    claim = await scene.start(a_run())
    scene.clock.advance(DAY + MINUTE)
    await scene.start(a_run())

    [finding] = await found(scene)

    assert isinstance(finding, RunsLong)
    assert [run.run_id for run in finding.runs] == [claim.run_id]


async def test_unreadable_definitions_are_found(scene: Scene, tmp_path: Path) -> None:
    await scene.job("broken")
    await scene.schedule(every(60))
    spoil(tmp_path, "UPDATE jobs SET spec = '{oops' WHERE id = 'broken'")
    spoil(tmp_path, "UPDATE schedules SET spec = '{oops'")

    [finding] = await found(scene)

    assert isinstance(finding, RowsUnreadable)
    assert finding.count == 2
    assert any("broken" in row for row in finding.rows)
    assert any("nightly" in row for row in finding.rows)


async def test_coming_ticks_that_move_with_the_time_zone_data_are_found(scene: Scene, tmp_path: Path) -> None:
    await scene.schedule(ScheduleSpec(type=ScheduleType.CRON, expr="0 9 * * *", timezone="Europe/Berlin", job_id=None))
    spoil(tmp_path, "UPDATE schedules SET next_run_at = next_run_at + 3600000")

    [finding] = await found(scene)

    assert isinstance(finding, TicksMoved)
    nine, ten = datetime(2026, 1, 1, 8, tzinfo=UTC), datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert finding.ticks == (MovedTick(schedule_id="nightly", stored=ten, now=nine),)


async def test_an_edited_schedule_has_not_moved(scene: Scene) -> None:
    await scene.schedule(ScheduleSpec(type=ScheduleType.CRON, expr="* * * * *", job_id=None))
    scene.clock.advance(10 * MINUTE)
    await scene.schedule(ScheduleSpec(type=ScheduleType.CRON, expr="0 * * * *", job_id=None))

    assert {code_of(one) for one in await found(scene)} <= {"schedules_late"}


# -- clocks


async def test_a_clock_set_back_while_no_server_ran_is_found_by_its_effect(scene: Scene) -> None:
    await scene.schedule(every(3_600))
    await scene.fire_after(5 * HOUR)
    scene.clock.step(-3 * HOUR)

    [finding] = [one for one in await found(scene) if isinstance(one, ClockSetBack)]

    assert (finding.at, finding.by) == (None, 3 * 3_600)
    assert [one.schedule_id for one in finding.schedules] == ["nightly"]


async def test_a_difference_between_this_machine_and_the_database_is_found(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def differ(_: object) -> ClockReading:
        return ClockReading(scene.now, Instant(scene.now - MINUTE), scene.clock.elapsed())

    monkeypatch.setattr(SqliteUpkeep, "read_clocks", differ)

    [finding] = await found(scene)

    assert isinstance(finding, ClocksDiffer)
    assert [(one.node, one.ahead) for one in finding.nodes] == [("this machine", -60)]
