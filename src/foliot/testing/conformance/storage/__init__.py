"""What it means to be a storage: every promise of `foliot.ports.storage` as a test.

An adapter's own test file gives three fixtures (the suites of unreadable rows ask for one more, `spoil`) and names the
suites. pytest-asyncio is in its mode `auto` (docs/howto/write-an-adapter.md):

    @pytest.fixture
    def clock() -> VirtualClock: ...
    @pytest.fixture
    async def storage(clock) -> AsyncIterator[Storage]: ...                a new, empty database
    @pytest.fixture
    async def another(...) -> AsyncIterator[Callable[[], Awaitable[Storage]]]: ...   a second way into the same one

    class TestRuns(RunContract): ...
"""

from foliot.testing.conformance.storage.absence import AbsenceContract
from foliot.testing.conformance.storage.answers import AnswerContract
from foliot.testing.conformance.storage.boots import BootContract
from foliot.testing.conformance.storage.cancels import CancelContract
from foliot.testing.conformance.storage.claims import ClaimContract
from foliot.testing.conformance.storage.concurrency import ConcurrencyContract
from foliot.testing.conformance.storage.dedupe import DedupeContract
from foliot.testing.conformance.storage.events import EventContract
from foliot.testing.conformance.storage.exchanging import ExchangeContract
from foliot.testing.conformance.storage.executions import ExecutionLookContract
from foliot.testing.conformance.storage.finishing import FinishContract
from foliot.testing.conformance.storage.gates import GateContract
from foliot.testing.conformance.storage.job_use import JobUseContract
from foliot.testing.conformance.storage.jobs import JobContract
from foliot.testing.conformance.storage.keeping import KeepingContract
from foliot.testing.conformance.storage.ledger import LedgerContract
from foliot.testing.conformance.storage.limits import LimitContract
from foliot.testing.conformance.storage.logs import LogContract
from foliot.testing.conformance.storage.marks import MarkContract
from foliot.testing.conformance.storage.notes import NoteContract
from foliot.testing.conformance.storage.openings import OpenContract
from foliot.testing.conformance.storage.overlap import OverlapContract
from foliot.testing.conformance.storage.overview import LogEndContract, OverviewContract
from foliot.testing.conformance.storage.queries import DefinitionQueryContract, RunQueryContract
from foliot.testing.conformance.storage.references import ReferenceContract
from foliot.testing.conformance.storage.renames import RenameContract
from foliot.testing.conformance.storage.runs import RunContract
from foliot.testing.conformance.storage.schedules import ScheduleContract
from foliot.testing.conformance.storage.settlements import SettlementContract
from foliot.testing.conformance.storage.settling import SettleContract
from foliot.testing.conformance.storage.sights import SightContract
from foliot.testing.conformance.storage.signals import SignalContract
from foliot.testing.conformance.storage.trees import TreeContract
from foliot.testing.conformance.storage.unreadable import UnreadableContract
from foliot.testing.conformance.storage.unreadable_runs import UnreadableRunContract
from foliot.testing.conformance.storage.unreadable_workflows import UnreadableWorkflowContract
from foliot.testing.conformance.storage.upkeep import LeaderContract, UpkeepContract
from foliot.testing.conformance.storage.work import WorkContract
from foliot.testing.conformance.storage.workers import LeaseContract
from foliot.testing.conformance.storage.workflows import WorkflowContract

__all__ = [
    "AbsenceContract",
    "AnswerContract",
    "BootContract",
    "CancelContract",
    "ClaimContract",
    "ConcurrencyContract",
    "DedupeContract",
    "DefinitionQueryContract",
    "EventContract",
    "ExchangeContract",
    "ExecutionLookContract",
    "FinishContract",
    "GateContract",
    "JobContract",
    "JobUseContract",
    "KeepingContract",
    "LeaderContract",
    "LeaseContract",
    "LedgerContract",
    "LimitContract",
    "LogContract",
    "LogEndContract",
    "MarkContract",
    "NoteContract",
    "OpenContract",
    "OverlapContract",
    "OverviewContract",
    "ReferenceContract",
    "RenameContract",
    "RunContract",
    "RunQueryContract",
    "ScheduleContract",
    "SettleContract",
    "SettlementContract",
    "SightContract",
    "SignalContract",
    "TreeContract",
    "UnreadableContract",
    "UnreadableRunContract",
    "UnreadableWorkflowContract",
    "UpkeepContract",
    "WorkContract",
    "WorkflowContract",
]
