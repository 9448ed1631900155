"""Settles trees: decides what follows when children have ended, and saves it.

Any number of settlers may work at once. Each saves a decision only if the tree is still in the state that it was
decided on. If another settler was faster, its decision stands, or a new note brings the tree back.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Final

from foliot.domain.ids import IdSource, RunId
from foliot.domain.instant import SECOND, Instant, Millis
from foliot.domain.tree.kind import Loaded, TreeKind, Wanted
from foliot.domain.tree.settlement import Progress, Settlement
from foliot.domain.workflow.abandonment import abandon
from foliot.engine.coordinator.progress import ProgressListener, ignore_progress
from foliot.engine.coordinator.reader import Question, TreeReader
from foliot.engine.loop import AT_ONCE
from foliot.errors import FoliotError
from foliot.ports.trees import TreeStore, Unsettled, UnsettledTree

log = logging.getLogger(__name__)

BATCH: Final = 100
NOTES: Final = 1_000
"""How many notes of one tree are settled in a round."""
_REPORTED: Final = 1_000


class Settler:
    """The duty that settles trees."""

    name = "settler"

    def __init__(
        self,
        store: TreeStore,
        ids: IdSource,
        kinds: Mapping[str, TreeKind],
        reader: TreeReader,
        *,
        wake: asyncio.Event,
        listener: ProgressListener = ignore_progress,
        every: Millis = SECOND,
    ) -> None:
        self.wake = wake
        self._store = store
        self._ids = ids
        self._kinds = kinds
        self._reader = reader
        self._every = every
        self._listener = listener
        self._after: RunId | None = None
        """Where the next round begins: trees that cannot be settled must not hide the others."""
        self._reported: dict[RunId, str] = {}
        """Why trees could not be settled, as far as it has been logged."""

    async def round(self) -> Millis | None:
        found = await self._store.unsettled(BATCH, notes_per_tree=NOTES, after=self._after)
        self._after = found.after
        settlements = await self._decide(found)
        saved = set(await self._store.settle(settlements)) if settlements else set()
        for settlement in settlements:
            if settlement.tree.run_id in saved:
                self._follow(settlement)
        # What was not saved was settled by another process, or cannot be stored at all: no reason to hurry.
        return AT_ONCE if saved or self._after is not None else self._every

    async def _decide(self, found: Unsettled) -> list[Settlement]:
        unsettled = {one.tree.run_id: one for one in found.trees}
        answers = await self._reader.answer(
            {
                run_id: self._question(one, kind, found.now)
                for run_id, one in unsettled.items()
                if (kind := self._kinds.get(one.tree.kind)) is not None and one.tree.error is None
            }
        )
        settlements: list[Settlement] = []
        for run_id, one in unsettled.items():
            answer = one.tree.error or answers.get(run_id) or _unknown_kind(one)
            if isinstance(answer, Exception):
                self._report(run_id, answer)
                settlements += await self._give_up(one, answer, found.now)
            else:
                self._reported.pop(run_id, None)
                settlements.append(answer)
        return settlements

    def _question(self, one: UnsettledTree, kind: TreeKind, now: Instant) -> Question[Settlement]:
        def ask(loaded: Loaded) -> Settlement | Wanted:
            tree = self._reader.attach(one.tree, kind, loaded)
            return tree if isinstance(tree, Wanted) else kind.decide(tree, one.notes, loaded, now, self._ids)

        return Question(kind, one.loaded, ask)

    async def _give_up(self, one: UnsettledTree, error: Exception, now: Instant) -> Sequence[Settlement]:
        """A tree of which something is missing or cannot be read stays as it is until that is repaired. If it must end,
        it ends. Any other error is no reason to end it, and a kind that is not known here is another coordinator's."""
        if not (isinstance(error, FoliotError) and one.tree.is_to_end(now)):
            return []
        return [abandon(one.tree, one.notes.items, await self._store.steps(one.tree.run_id))]

    def _report(self, run_id: RunId, error: Exception) -> None:
        if self._reported.get(run_id) != str(error):
            if len(self._reported) >= _REPORTED:
                self._reported.clear()
            self._reported[run_id] = str(error)
            log.error("execution_not_settled", extra={"run": run_id}, exc_info=error)

    def _follow(self, settlement: Settlement) -> None:
        tree, is_over = settlement.tree, settlement.ended is not None
        if is_over:
            self._reader.forget(tree.run_id)
        self._listener(Progress(tree.run_id, tree.job_id, settlement.steps, is_over))


def _unknown_kind(one: UnsettledTree) -> Exception:
    return ValueError(f'no coordinator here knows the kind "{one.tree.kind}" of tree {one.tree.run_id}')
