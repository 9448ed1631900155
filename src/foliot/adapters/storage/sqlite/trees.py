"""The tree port on SQLite."""

from collections.abc import Mapping, Sequence

from foliot.adapters.storage.sqlite.access import Access
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.finishes import Finishes
from foliot.adapters.storage.sqlite.tree_reads import load_all, read_steps, read_unsettled
from foliot.adapters.storage.sqlite.tree_writes import open_all, settle_all
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.tree.kind import Loaded, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.workflow.execution import StepRecord
from foliot.ports.trees import Unsettled


class SqliteTrees:
    """Fills `ports.trees.TreeStore`."""

    def __init__(self, access: Access, finishes: Finishes) -> None:
        self._writer, self._reader, self._clock, self._project = access
        self._finishes = finishes

    async def open(self, openings: Sequence[Opening], *, at: Instant | None = None) -> list[Token]:
        def work(tx: Transaction) -> list[Token]:
            return open_all(tx, self._project, self._finishes, openings, tx.now(at))

        return await self._writer.submit("open", work)

    async def settle(self, settlements: Sequence[Settlement], *, at: Instant | None = None) -> list[RunId]:
        def work(tx: Transaction) -> list[RunId]:
            return settle_all(tx, self._project, settlements, tx.now(at))

        return await self._writer.submit("settle_trees", work)

    async def unsettled(
        self, limit: int, *, notes_per_tree: int, after: RunId | None = None, at: Instant | None = None
    ) -> Unsettled:
        now = self._clock.now() if at is None else at
        return await self._reader.read(
            lambda session: read_unsettled(session, self._project, limit, notes_per_tree, after, now)
        )

    async def load(self, wants: Sequence[Wanted], *, at: Instant | None = None) -> Mapping[RunId, Loaded]:
        now = self._clock.now() if at is None else at
        return await self._reader.read(lambda session: load_all(session, self._project, wants, now))

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        return await self._reader.read(lambda session: read_steps(session, run_id))
