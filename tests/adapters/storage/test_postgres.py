"""PostgreSQL fulfils the contracts of a storage."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance import storage as contracts
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.fresh import fresh_database


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def database() -> Iterator[tuple[PostgresServer, str]]:
    with fresh_database() as found:
        yield found


@pytest.fixture
def connections() -> str:
    return "direct"


@pytest.fixture
def dsn(database: tuple[PostgresServer, str], connections: str) -> str:
    server, name = database
    return server.dsn(name) + ("&pooler=transaction" if connections == "pooled" else "")


in_both_modes = pytest.mark.parametrize("connections", ["direct", "pooled"])
"""Direct, and in the mode for a pooler that assigns a connection for one transaction only.

The modes differ in how a session is used. Create, claim, exchange, finish and settle are usually one statement outside
a transaction; behind a pooler they get a transaction that brings its own settings. No statement is prepared there, and
the bell listens without settings. So the contracts of these calls, of the signals and of colliding sessions run in both
modes. All other calls use the same transactions in both modes, and their contracts run once. A real pooler is used in
`postgres/test_pooler.py`.
"""

_UNCHECKED = """DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT conname FROM pg_constraint WHERE conrelid = 'foliot.{table}'::regclass AND contype = 'c' LOOP
        EXECUTE 'ALTER TABLE foliot.{table} DROP CONSTRAINT ' || quote_ident(name);
    END LOOP; END $$"""


@pytest.fixture
def spoil(database: tuple[PostgresServer, str]) -> Callable[..., None]:
    server, name = database

    def write(table: str, where: str, **documents: str) -> None:
        for column, document in documents.items():
            server.sql(_UNCHECKED.format(table=table), database=name)
            changed = server.sql(
                f'UPDATE foliot.{table} SET "{column}" = $garbage${document}$garbage$ WHERE {where} RETURNING 1',
                database=name,
            )
            assert changed

    return write


@pytest.fixture
async def storage(dsn: str) -> AsyncIterator[PostgresStorage]:
    async with await open_postgres(dsn) as storage:
        yield storage


@pytest.fixture
async def another(dsn: str) -> AsyncIterator[Callable[[], Awaitable[Storage]]]:
    async with AsyncExitStack() as opened:

        async def open_another() -> Storage:
            return await opened.enter_async_context(await open_postgres(dsn))

        yield open_another


class TestMissingIds(contracts.MissingIdContract):
    pass


class TestBoots(contracts.BootContract):
    pass


class TestCancels(contracts.CancelContract):
    pass


@in_both_modes
class TestClaims(contracts.ClaimContract):
    pass


@in_both_modes
class TestConcurrency(contracts.ConcurrencyContract):
    pass


@in_both_modes
class TestDedupe(contracts.DedupeContract):
    pass


class TestDependencies(contracts.DependencyContract):
    pass


class TestDefinitionQueries(contracts.DefinitionQueryContract):
    pass


class TestRunQueries(contracts.RunQueryContract):
    pass


class TestDeliveries(contracts.DeliveryContract):
    pass


class TestAudit(contracts.AuditContract):
    pass


class TestTokens(contracts.TokenContract):
    pass


class TestRequests(contracts.RequestContract):
    pass


class TestUsers(contracts.UserContract):
    pass


class TestEnrolments(contracts.EnrolmentContract):
    pass


class TestDsns(contracts.DsnContract):
    pass


class TestEvents(contracts.EventContract):
    pass


@in_both_modes
class TestExchanging(contracts.ExchangeContract):
    pass


@in_both_modes
class TestFinishing(contracts.FinishContract):
    pass


class TestProjectPauses(contracts.ProjectPauseContract):
    pass


class TestHome(contracts.HomeContract):
    pass


class TestLedgerPages(contracts.LedgerPageContract):
    pass


class TestJobRows(contracts.JobRowContract):
    pass


class TestFailures(contracts.FailureContract):
    pass


class TestSkips(contracts.SkipContract):
    pass


class TestUnreadable(contracts.UnreadableContract):
    pass


class TestUnreadableRuns(contracts.UnreadableRunContract):
    pass


class TestUnreadableWorkflows(contracts.UnreadableWorkflowContract):
    pass


class TestJobs(contracts.JobContract):
    pass


class TestLeader(contracts.LeaderContract):
    pass


class TestLeases(contracts.LeaseContract):
    pass


class TestTickPages(contracts.TickPageContract):
    pass


class TestRunLists(contracts.RunListContract):
    pass


class TestLanes(contracts.LaneContract):
    pass


class TestLedger(contracts.LedgerContract):
    pass


class TestLimits(contracts.LimitContract):
    pass


class TestItems(contracts.ItemContract):
    pass


class TestChains(contracts.ChainContract):
    pass


class TestChainLimits(contracts.ChainLimitContract):
    pass


class TestFanoutQueries(contracts.FanoutQueryContract):
    pass


class TestListeners(contracts.ListenerContract):
    pass


class TestLogs(contracts.LogContract):
    pass


class TestResults(contracts.ResultContract):
    pass


class TestProgress(contracts.ProgressContract):
    pass


class TestOverlap(contracts.OverlapContract):
    pass


@in_both_modes
class TestRuns(contracts.RunContract):
    pass


class TestSchedules(contracts.ScheduleContract):
    pass


@in_both_modes
class TestFirings(contracts.FiringContract):
    pass


class TestReferences(contracts.ReferenceContract):
    pass


class TestJobUse(contracts.JobUseContract):
    pass


class TestRenames(contracts.RenameContract):
    pass


class TestReports(contracts.ReportContract):
    pass


class TestMarks(contracts.MarkContract):
    pass


class TestOverview(contracts.OverviewContract):
    pass


class TestClockFaults(contracts.ClockFaultContract):
    pass


class TestHealth(contracts.HealthContract):
    pass


class TestExplained(contracts.ExplainedContract):
    pass


class TestLogEnds(contracts.LogEndContract):
    pass


class TestWorkflows(contracts.WorkflowContract):
    pass


class TestOpening(contracts.OpenContract):
    pass


class TestNotes(contracts.NoteContract):
    pass


class TestSettlements(contracts.SettlementContract):
    pass


class TestExecutionQueries(contracts.ExecutionQueryContract):
    pass


class TestTrees(contracts.TreeContract):
    pass


class TestWork(contracts.WorkContract):
    pass


class TestGates(contracts.GateContract):
    pass


class TestAnswers(contracts.AnswerContract):
    pass


class TestDependencyStates(contracts.DependencyStateContract):
    pass


class TestExecutionRetention(contracts.ExecutionRetentionContract):
    pass


@in_both_modes
class TestSignals(contracts.SignalContract):
    pass


class TestUpkeep(contracts.UpkeepContract):
    pass
