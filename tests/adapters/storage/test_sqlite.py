"""A SQLite file fulfils the contracts of a storage."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.instant import HOUR, Millis
from foliot.ports.storage import Storage
from foliot.testing.builders import LEASE, a_run, a_worker
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance import storage as suites


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def another(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Callable[[], Awaitable[Storage]]]:
    opened: list[SqliteStorage] = []

    async def open_one_more() -> Storage:
        opened.append(await SqliteStorage.open(tmp_path / "foliot.db", clock=clock, synchronous="NORMAL"))
        return opened[-1]

    yield open_one_more
    for storage in opened:
        await storage.close()


@pytest.fixture
async def storage(another: Callable[[], Awaitable[Storage]]) -> Storage:
    return await another()


@pytest.fixture
def spoil(storage: Storage, tmp_path: Path) -> Callable[..., None]:
    def write(table: str, where: str, **documents: str) -> None:
        connection = apsw.Connection(str(tmp_path / ("foliot.db-logs" if table == "log_chunks" else "foliot.db")))
        connection.pragma("ignore_check_constraints", 1)
        for column, document in documents.items():
            given = document.encode() if column in ("payload", "overrides", "body") else document
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (given,))
            assert connection.changes()
        connection.close()

    return write


class TestProjectPauses(suites.ProjectPauseContract):
    pass


class TestHome(suites.HomeContract):
    pass


class TestLedgerPages(suites.LedgerPageContract):
    pass


class TestJobRows(suites.JobRowContract):
    pass


class TestFailures(suites.FailureContract):
    pass


class TestSkips(suites.SkipContract):
    pass


class TestUnreadable(suites.UnreadableContract):
    pass


class TestUnreadableRuns(suites.UnreadableRunContract):
    pass


class TestUnreadableWorkflows(suites.UnreadableWorkflowContract):
    pass


class TestJobs(suites.JobContract):
    pass


class TestSchedules(suites.ScheduleContract):
    pass


class TestFirings(suites.FiringContract):
    pass


class TestTickPages(suites.TickPageContract):
    pass


class TestRunLists(suites.RunListContract):
    pass


class TestLanes(suites.LaneContract):
    pass


class TestLedger(suites.LedgerContract):
    pass


class TestRuns(suites.RunContract):
    pass


class TestDedupe(suites.DedupeContract):
    pass


class TestDependencies(suites.DependencyContract):
    pass


class TestDefinitionQueries(suites.DefinitionQueryContract):
    pass


class TestRunQueries(suites.RunQueryContract):
    pass


class TestClaims(suites.ClaimContract):
    pass


class TestFinishing(suites.FinishContract):
    pass


class TestExchanging(suites.ExchangeContract):
    pass


class TestMissingIds(suites.MissingIdContract):
    pass


class TestBoots(suites.BootContract):
    pass


class TestCancels(suites.CancelContract):
    pass


class TestLimits(suites.LimitContract):
    pass


class TestOverlap(suites.OverlapContract):
    pass


class TestLeases(suites.LeaseContract):
    pass


class TestItems(suites.ItemContract):
    pass


class TestChains(suites.ChainContract):
    pass


class TestChainLimits(suites.ChainLimitContract):
    pass


class TestFanoutQueries(suites.FanoutQueryContract):
    pass


class TestListeners(suites.ListenerContract):
    pass


class TestLogs(suites.LogContract):
    pass


class TestResults(suites.ResultContract):
    pass


class TestProgress(suites.ProgressContract):
    pass


class TestLeader(suites.LeaderContract):
    pass


class TestUpkeep(suites.UpkeepContract):
    pass


class TestDeliveries(suites.DeliveryContract):
    pass


class TestAudit(suites.AuditContract):
    pass


class TestTokens(suites.TokenContract):
    pass


class TestRequests(suites.RequestContract):
    pass


class TestUsers(suites.UserContract):
    pass


class TestEnrolments(suites.EnrolmentContract):
    pass


class TestDsns(suites.DsnContract):
    pass


class TestEvents(suites.EventContract):
    pass


class TestReferences(suites.ReferenceContract):
    pass


class TestJobUse(suites.JobUseContract):
    pass


class TestRenames(suites.RenameContract):
    pass


class TestReports(suites.ReportContract):
    pass


class TestMarks(suites.MarkContract):
    pass


class TestOverview(suites.OverviewContract):
    pass


class TestClockFaults(suites.ClockFaultContract):
    pass


class TestHealth(suites.HealthContract):
    pass


class TestExplained(suites.ExplainedContract):
    pass


class TestLogEnds(suites.LogEndContract):
    pass


class TestWorkflows(suites.WorkflowContract):
    pass


class TestOpening(suites.OpenContract):
    pass


class TestNotes(suites.NoteContract):
    pass


class TestSettlements(suites.SettlementContract):
    pass


class TestExecutionQueries(suites.ExecutionQueryContract):
    pass


class TestTrees(suites.TreeContract):
    pass


class TestWork(suites.WorkContract):
    pass


class TestGates(suites.GateContract):
    pass


class TestAnswers(suites.AnswerContract):
    pass


class TestDependencyStates(suites.DependencyStateContract):
    pass


class TestExecutionRetention(suites.ExecutionRetentionContract):
    pass


class TestSignals(suites.SignalContract):
    pass


class TestConcurrency(suites.ConcurrencyContract):
    pass


@pytest.mark.proves("L3")
@pytest.mark.parametrize("step", [HOUR, -HOUR])
async def test_setting_the_wall_clock_expires_no_lease(storage: Storage, clock: VirtualClock, step: Millis) -> None:
    worker = a_worker()
    await storage.work.register(worker, LEASE)
    await storage.orders.create([a_run(due_at=0)])
    [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims

    clock.step(step)

    assert await storage.upkeep.expired_leases(10) == []
    renewal = await storage.work.renew(worker.id, [claim.token], LEASE)
    assert renewal is not None


@pytest.mark.proves("L3")
async def test_setting_the_wall_clock_back_keeps_no_expired_lease(storage: Storage, clock: VirtualClock) -> None:
    worker = a_worker()
    await storage.work.register(worker, LEASE)
    await storage.orders.create([a_run(due_at=0)])
    [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims

    clock.step(-HOUR)
    clock.advance(LEASE + 1)

    assert [expired.token for expired in await storage.upkeep.expired_leases(10)] == [claim.token]
    assert await storage.work.renew(worker.id, [claim.token], LEASE) is None


@pytest.mark.proves("L3")
async def test_no_lease_survives_a_reboot(storage: Storage, clock: VirtualClock) -> None:
    worker = a_worker()
    await storage.work.register(worker, LEASE)
    await storage.orders.create([a_run(due_at=0)])
    [claim] = (await storage.work.claim(worker.id, ["default"], 1)).claims

    clock.reboot()

    assert [expired.token for expired in await storage.upkeep.expired_leases(10)] == [claim.token]
