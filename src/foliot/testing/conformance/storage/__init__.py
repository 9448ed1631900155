"""The promises of `foliot.ports.storage` as tests.

The test file of an adapter provides three fixtures (the suites of unreadable rows need one more, `spoil`) and
subclasses the suites. pytest-asyncio must be in its mode `auto` (docs/howto/write-an-adapter.md):

    @pytest.fixture
    def clock() -> VirtualClock: ...
    @pytest.fixture
    async def storage(clock) -> AsyncIterator[Storage]: ...                a new, empty database
    @pytest.fixture
    async def another(...) -> AsyncIterator[Callable[[], Awaitable[Storage]]]: ...   opens the same database again

    class TestRuns(RunContract): ...
"""

from foliot.testing.conformance.storage.answers import AnswerContract
from foliot.testing.conformance.storage.audit import AuditContract
from foliot.testing.conformance.storage.boots import BootContract
from foliot.testing.conformance.storage.cancels import CancelContract
from foliot.testing.conformance.storage.chain_limits import ChainLimitContract
from foliot.testing.conformance.storage.chains import ChainContract
from foliot.testing.conformance.storage.claims import ClaimContract
from foliot.testing.conformance.storage.clocks import ClockFaultContract
from foliot.testing.conformance.storage.concurrency import ConcurrencyContract
from foliot.testing.conformance.storage.dedupe import DedupeContract
from foliot.testing.conformance.storage.deliveries import DeliveryContract
from foliot.testing.conformance.storage.dependencies import DependencyContract
from foliot.testing.conformance.storage.dependency_states import DependencyStateContract
from foliot.testing.conformance.storage.dsns import DsnContract
from foliot.testing.conformance.storage.enrolments import EnrolmentContract
from foliot.testing.conformance.storage.events import EventContract
from foliot.testing.conformance.storage.exchange import ExchangeContract
from foliot.testing.conformance.storage.execution_retention import ExecutionRetentionContract
from foliot.testing.conformance.storage.executions import ExecutionQueryContract
from foliot.testing.conformance.storage.explained import ExplainedContract
from foliot.testing.conformance.storage.failures import FailureContract
from foliot.testing.conformance.storage.fanouts import FanoutQueryContract
from foliot.testing.conformance.storage.finish import FinishContract
from foliot.testing.conformance.storage.firings import FiringContract
from foliot.testing.conformance.storage.gates import GateContract
from foliot.testing.conformance.storage.health import HealthContract
from foliot.testing.conformance.storage.home import HomeContract
from foliot.testing.conformance.storage.items import ItemContract
from foliot.testing.conformance.storage.job_rows import JobRowContract
from foliot.testing.conformance.storage.job_use import JobUseContract
from foliot.testing.conformance.storage.jobs import JobContract
from foliot.testing.conformance.storage.lanes import LaneContract
from foliot.testing.conformance.storage.ledger import LedgerContract
from foliot.testing.conformance.storage.limits import LimitContract
from foliot.testing.conformance.storage.listeners import ListenerContract
from foliot.testing.conformance.storage.logs import LogContract
from foliot.testing.conformance.storage.marks import MarkContract
from foliot.testing.conformance.storage.missing_ids import MissingIdContract
from foliot.testing.conformance.storage.notes import NoteContract
from foliot.testing.conformance.storage.openings import OpenContract
from foliot.testing.conformance.storage.overlap import OverlapContract
from foliot.testing.conformance.storage.overview import LogEndContract, OverviewContract
from foliot.testing.conformance.storage.progress import ProgressContract
from foliot.testing.conformance.storage.project_pauses import ProjectPauseContract
from foliot.testing.conformance.storage.queries import DefinitionQueryContract, RunQueryContract
from foliot.testing.conformance.storage.references import ReferenceContract
from foliot.testing.conformance.storage.renames import RenameContract
from foliot.testing.conformance.storage.reports import ReportContract
from foliot.testing.conformance.storage.requests import RequestContract
from foliot.testing.conformance.storage.results import ResultContract
from foliot.testing.conformance.storage.runs import RunContract
from foliot.testing.conformance.storage.schedules import ScheduleContract
from foliot.testing.conformance.storage.settlements import SettlementContract
from foliot.testing.conformance.storage.signals import SignalContract
from foliot.testing.conformance.storage.skips import SkipContract
from foliot.testing.conformance.storage.tick_pages import LedgerPageContract, RunListContract, TickPageContract
from foliot.testing.conformance.storage.tokens import TokenContract
from foliot.testing.conformance.storage.trees import TreeContract
from foliot.testing.conformance.storage.unreadable import UnreadableContract
from foliot.testing.conformance.storage.unreadable_runs import UnreadableRunContract
from foliot.testing.conformance.storage.unreadable_workflows import UnreadableWorkflowContract
from foliot.testing.conformance.storage.upkeep import LeaderContract, UpkeepContract
from foliot.testing.conformance.storage.users import UserContract
from foliot.testing.conformance.storage.work import WorkContract
from foliot.testing.conformance.storage.workers import LeaseContract
from foliot.testing.conformance.storage.workflows import WorkflowContract

__all__ = [
    "AnswerContract",
    "AuditContract",
    "BootContract",
    "CancelContract",
    "ChainContract",
    "ChainLimitContract",
    "ClaimContract",
    "ClockFaultContract",
    "ConcurrencyContract",
    "DedupeContract",
    "DefinitionQueryContract",
    "DeliveryContract",
    "DependencyContract",
    "DependencyStateContract",
    "DsnContract",
    "EnrolmentContract",
    "EventContract",
    "ExchangeContract",
    "ExecutionQueryContract",
    "ExecutionRetentionContract",
    "ExplainedContract",
    "FailureContract",
    "FanoutQueryContract",
    "FinishContract",
    "FiringContract",
    "GateContract",
    "HealthContract",
    "HomeContract",
    "ItemContract",
    "JobContract",
    "JobRowContract",
    "JobUseContract",
    "LaneContract",
    "LeaderContract",
    "LeaseContract",
    "LedgerContract",
    "LedgerPageContract",
    "LimitContract",
    "ListenerContract",
    "LogContract",
    "LogEndContract",
    "MarkContract",
    "MissingIdContract",
    "NoteContract",
    "OpenContract",
    "OverlapContract",
    "OverviewContract",
    "ProgressContract",
    "ProjectPauseContract",
    "ReferenceContract",
    "RenameContract",
    "ReportContract",
    "RequestContract",
    "ResultContract",
    "RunContract",
    "RunListContract",
    "RunQueryContract",
    "ScheduleContract",
    "SettlementContract",
    "SignalContract",
    "SkipContract",
    "TickPageContract",
    "TokenContract",
    "TreeContract",
    "UnreadableContract",
    "UnreadableRunContract",
    "UnreadableWorkflowContract",
    "UpkeepContract",
    "UserContract",
    "WorkContract",
    "WorkflowContract",
]
