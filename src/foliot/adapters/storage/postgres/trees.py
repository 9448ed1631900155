"""The trees of a PostgreSQL storage."""

from collections.abc import Mapping, Sequence
from functools import partial

from foliot.adapters.storage.postgres.admission import Admission
from foliot.adapters.storage.postgres.database import Database, Transaction, divide
from foliot.adapters.storage.postgres.definitions import DefinitionReader
from foliot.adapters.storage.postgres.executions import step_records
from foliot.adapters.storage.postgres.finishing import finish_runs
from foliot.adapters.storage.postgres.settlements import open_trees, settle_trees
from foliot.adapters.storage.postgres.tree_loading import load_wanted
from foliot.adapters.storage.postgres.unsettled import unsettled_trees
from foliot.adapters.storage.shared.finish_plan import unopened
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import Instant
from foliot.domain.tree.kind import Loaded, Wanted
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.workflow.execution import StepRecord
from foliot.ports.trees import Unsettled


class PostgresTrees:
    """Fills `ports.trees.TreeStore`."""

    def __init__(self, database: Database, admission: Admission, definitions: DefinitionReader, project: str) -> None:
        self._database = database
        self._admission = admission
        self._definitions = definitions
        self._project = project

    async def open(self, openings: Sequence[Opening], *, at: Instant | None = None) -> list[Token]:
        if not openings:
            return []
        saved = dict(await divide(openings, partial(self._open, at=at)))
        refused = [opening for opening in openings if opening.claim.token not in saved]
        saved |= {opening.claim.token: await self._refuse(opening, at) for opening in refused}
        return [opening.claim.token for opening in openings if not saved[opening.claim.token]]

    async def _open(self, openings: Sequence[Opening], at: Instant | None) -> list[tuple[Token, bool]]:
        async def work(transaction: Transaction) -> tuple[list[Token], set[str]]:
            now = await transaction.now(at)
            return await open_trees(transaction, self._project, openings, now), transaction.keys

        stale, keys = await self._database.write("open", work)
        await self._admission.follow(keys, at)
        return [(opening.claim.token, opening.claim.token not in stale) for opening in openings]

    async def _refuse(self, opening: Opening, at: Instant | None) -> bool:
        """End the run of a tree that cannot be stored. Returns whether its token was current."""

        async def work(transaction: Transaction) -> tuple[list[Token], set[str]]:
            finish = unopened(opening.claim)
            return await finish_runs(transaction, self._definitions, [finish], at), transaction.keys

        stale, keys = await self._database.write("finish", work)
        await self._admission.follow(keys, at)
        return not stale

    async def unsettled(
        self, limit: int, *, notes_per_tree: int, after: RunId | None = None, at: Instant | None = None
    ) -> Unsettled:
        return await unsettled_trees(self._database, limit, notes_per_tree, after, at)

    async def load(self, wants: Sequence[Wanted], *, at: Instant | None = None) -> Mapping[RunId, Loaded]:
        return await load_wanted(self._database, self._project, wants, at)

    async def steps(self, run_id: RunId) -> list[StepRecord]:
        return await step_records(self._database, run_id)

    async def settle(self, settlements: Sequence[Settlement], *, at: Instant | None = None) -> list[RunId]:
        return await divide(settlements, partial(self._settle, at=at)) if settlements else []

    async def _settle(self, settlements: Sequence[Settlement], at: Instant | None) -> list[RunId]:
        async def work(transaction: Transaction) -> tuple[list[RunId], set[str]]:
            now = await transaction.now(at)
            return await settle_trees(transaction, self._project, settlements, now), transaction.keys

        saved, keys = await self._database.write("settle_trees", work)
        await self._admission.follow(keys, at)
        return saved
