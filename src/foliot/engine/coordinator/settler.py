"""Settles trees: decides what follows when children have ended, and saves the decision.

Any number of settlers may run concurrently. A decision is saved only if the tree is still in the state that it was
based on. Otherwise another settler has already saved one, and a tree that has new notes is read again.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from foliot.domain.ids import IdSource, RunId
from foliot.domain.instant import SECOND, Instant, Millis
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.abandonment import abandon
from foliot.domain.tree.kind import Loaded, TreeKind, Wanted
from foliot.domain.tree.settlement import Settlement
from foliot.domain.tree.tree import Tree
from foliot.engine.coordinator.decider import PendingDecision, TreeDecider
from foliot.engine.coordinator.pruner import ExecutionPruner
from foliot.engine.loop import IMMEDIATELY
from foliot.errors import FoliotError
from foliot.ports.trees import TreeStore, Unsettled, UnsettledTree

log = logging.getLogger(__name__)

BATCH: Final = 100
NOTES: Final = 1_000
"""How many notes of one tree are settled in a round."""
_MAX_REPORTED: Final = 1_000
_MAX_LOGGED: Final = 20
"""How many ends of trees, apart from failures, are logged in one round. The rest is counted."""


class Settler:
    """The duty that settles trees."""

    name = "settler"

    def __init__(
        self,
        store: TreeStore,
        ids: IdSource,
        kinds: Mapping[str, TreeKind],
        decider: TreeDecider,
        *,
        wake: asyncio.Event,
        pruner: ExecutionPruner | None = None,
        every: Millis = SECOND,
    ) -> None:
        self.wake = wake
        self._store = store
        self._ids = ids
        self._kinds = kinds
        self._decider = decider
        self._every = every
        self._pruner = pruner
        self._after: RunId | None = None
        """The cursor of the next round. Without it, trees that cannot be settled would fill each batch."""
        self._reported: dict[RunId, str] = {}
        """Errors that have been logged, by tree."""

    async def round(self) -> Millis | None:
        found = await self._store.unsettled(BATCH, notes_per_tree=NOTES, after=self._after)
        self._after = found.after
        settlements = await self._decide(found)
        saved = set(await self._store.settle(settlements)) if settlements else set()
        endings = [(one.tree, one.ended) for one in settlements if one.ended is not None and one.tree.run_id in saved]
        _log_endings(endings)
        ended = [tree for tree, _ in endings]
        for tree in ended:
            self._decider.drop_body(tree.run_id)
        if self._pruner is not None:
            await self._pruner.executions_ended({tree.job_id for tree in ended if tree.depth == 0})
        # A note that is added from now on signals this duty. An unsaved decision was made by another process or cannot
        # be stored: another immediate round would not help.
        return IMMEDIATELY if self._after is not None or (saved and _has_more(found)) else self._every

    async def _decide(self, found: Unsettled) -> list[Settlement]:
        unsettled = {one.tree.run_id: one for one in found.trees}
        results = await self._decider.decide(
            {
                run_id: self._pending_decision(one, kind, found.now)
                for run_id, one in unsettled.items()
                if (kind := self._kinds.get(one.tree.kind)) is not None and one.tree.error is None
            }
        )
        settlements: list[Settlement] = []
        for run_id, one in unsettled.items():
            result = one.tree.error or results.get(run_id) or _unknown_kind(one)
            if isinstance(result, Exception):
                self._report(run_id, result)
                settlements += await self._abandon_if_due(one, result, found.now)
            else:
                self._reported.pop(run_id, None)
                settlements.append(result)
        return settlements

    def _pending_decision(self, one: UnsettledTree, kind: TreeKind, now: Instant) -> PendingDecision[Settlement]:
        def decide(loaded: Loaded) -> Settlement | Wanted:
            tree = self._decider.attach(one.tree, kind, loaded)
            return tree if isinstance(tree, Wanted) else kind.decide(tree, one.notes, loaded, now, self._ids)

        return PendingDecision(kind, one.loaded, decide)

    async def _abandon_if_due(self, one: UnsettledTree, error: Exception, now: Instant) -> Sequence[Settlement]:
        """Return a settlement that ends the tree if rows of it are missing or unreadable and it must end now.

        Until then the tree stays unchanged, so that the rows can be repaired. Other errors do not end a tree, and a
        kind that is not registered here belongs to another coordinator.
        """
        if not (isinstance(error, FoliotError) and one.tree.is_to_end(now)):
            return []
        run_id = one.tree.run_id
        children = await self._store.open_children(run_id)
        return [abandon(one.tree, one.notes.items, children, await self._store.steps(run_id))]

    def _report(self, run_id: RunId, error: Exception) -> None:
        if self._reported.get(run_id) != str(error):
            if len(self._reported) >= _MAX_REPORTED:
                self._reported.clear()
            self._reported[run_id] = str(error)
            log.error("tree_settle_failed", extra={"run": run_id}, exc_info=error)


def _has_more(found: Unsettled) -> bool:
    """Whether more trees or notes than were read may have been waiting."""
    return len(found.trees) >= BATCH or any(one.notes.has_more for one in found.trees)


def _log_endings(endings: Sequence[tuple[Tree, Ended]]) -> None:
    """Log how trees ended: each failure, and of the others the first of a round; the rest is counted."""
    successes = 0
    for tree, ended in endings:
        is_failure = ended.status in (Status.FAILED, Status.TIMEOUT)
        successes += not is_failure
        if is_failure or successes <= _MAX_LOGGED:
            facts = {"run": tree.run_id, "job": tree.job_id, "status": ended.status, "reason": ended.reason}
            log.log(logging.WARNING if is_failure else logging.INFO, "execution_ended", extra=facts)
    if successes > _MAX_LOGGED:
        log.info("executions_summarized", extra={"ended": successes - _MAX_LOGGED})


def _unknown_kind(one: UnsettledTree) -> Exception:
    return ValueError(f'tree {one.tree.run_id} is of kind "{one.tree.kind}", which this coordinator does not support')
