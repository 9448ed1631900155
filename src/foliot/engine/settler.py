"""Leads executions on: what follows when steps have ended.

Any number of settlers may work at once. Each decides on what it has read and saves it only if nobody else was faster;
what it would have done is then done already, or comes back as another note.
"""

import asyncio
import logging
from typing import Final

from foliot.domain.ids import IdSource, RunId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.workflow.abandoning import abandon
from foliot.domain.workflow.execution import Progress, Settlement, Unsettled
from foliot.domain.workflow.passage import Passage
from foliot.domain.workflow.progress import StepState
from foliot.engine.guide import Guide
from foliot.engine.hooks import Tell, nobody
from foliot.engine.loop import AT_ONCE
from foliot.engine.plans import Plans
from foliot.errors import RowUnreadable, StorageUnavailable
from foliot.ports.storage import Storage, Topic

log = logging.getLogger(__name__)

BATCH: Final = 100


class Settler:
    """The duty that settles executions."""

    name = "settler"

    def __init__(
        self, storage: Storage, ids: IdSource, plans: Plans, *, tell: Tell = nobody, every: Millis = SECOND
    ) -> None:
        self._storage = storage
        self._ids = ids
        self._plans = plans
        self._every = every
        self._tell = tell
        self._told: dict[RunId, str] = {}
        """What is wrong with executions, as far as it has been told."""

    @property
    def wake(self) -> asyncio.Event:
        return self._storage.signal(Topic.NOTES)

    async def round(self) -> Millis | None:
        # Those that nobody can settle are still there, and must not take the places of others.
        found = await self._storage.executions.unsettled(BATCH + len(self._told))
        self._told = {run_id: self._told[run_id] for (run_id, *_), *_ in found if run_id in self._told}
        decided = [await self._decide(one) for one in found]
        settlements = [one for one in decided if one is not None]
        saved: set[RunId] = set()
        if settlements:
            saved.update(await self._storage.executions.settle(settlements))
            for (run_id, workflow_id, *_), _, changed, _, _, ended in settlements:
                if run_id in saved:
                    self._tell(Progress(run_id, workflow_id, changed, ended is not None))
        # What could not be saved was settled by somebody else, or cannot be stored at all: no reason to hurry.
        return AT_ONCE if saved else self._every

    async def _decide(self, unsettled: Unsettled) -> Settlement | None:
        """One execution of which something cannot be read is left as it is, and told of once: it must not stop all
        others, and goes on when somebody has mended it. If it is to end, it does."""
        run_id = unsettled.execution.run_id
        try:
            if unsettled.execution.error is not None:
                raise unsettled.execution.error
            settlement = await self._settle(unsettled)
        except StorageUnavailable:
            raise
        except Exception as error:
            if self._told.get(run_id) != str(error):
                self._told[run_id] = str(error)
                log.exception("execution_not_settled", extra={"run": run_id})
            if not (unsettled.is_to_end and isinstance(error, RowUnreadable)):
                return None
            return abandon(unsettled, await self._storage.executions.steps(run_id))
        self._told.pop(run_id, None)
        return settlement

    async def _settle(self, unsettled: Unsettled) -> Settlement:
        """Decide what follows for one execution."""
        execution, notes, now = unsettled
        plan = await self._plans.get(execution.workflow_id, execution.version, execution.revision)
        passage = Passage(plan, execution, lambda: RunId(self._ids.make(now)), now)
        known: dict[str, StepState] = {}
        news = passage.heard(notes)
        if passage.must_end:
            known = await self._storage.executions.states(execution.run_id)
            news = {**passage.end_early(known, news), **news}
        guide = Guide(self._storage, plan, execution, passage, known)
        await guide.tell(news)
        return passage.settlement(notes, await guide.ending())
