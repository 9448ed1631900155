"""Leads executions on: what follows when steps have ended.

Any number of settlers may work at once. Each decides on what it has read and saves it only if nobody else was faster;
what it would have done is then done already, or comes back as another note.
"""

import asyncio
from typing import Final

from foliot.domain.ids import IdSource, RunId
from foliot.domain.instant import SECOND, Millis
from foliot.domain.workflow.execution import Progress, Settlement, Unsettled
from foliot.domain.workflow.passage import Passage
from foliot.domain.workflow.progress import StepState
from foliot.engine.guide import Guide
from foliot.engine.hooks import Tell, nobody
from foliot.engine.loop import AT_ONCE
from foliot.engine.plans import Plans
from foliot.ports.storage import Storage, Topic

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

    @property
    def wake(self) -> asyncio.Event:
        return self._storage.signal(Topic.NOTES)

    async def round(self) -> Millis | None:
        decided = [await self._settle(one) for one in await self._storage.executions.unsettled(BATCH)]
        settlements = [one for one in decided if one is not None]
        saved: set[RunId] = set()
        if settlements:
            saved.update(await self._storage.executions.settle(settlements))
            for (run_id, workflow_id, *_), _, changed, _, _, ended in settlements:
                if run_id in saved:
                    self._tell(Progress(run_id, workflow_id, changed, ended is not None))
        # What could not be saved was settled by somebody else, or cannot be stored at all: no reason to hurry.
        return AT_ONCE if saved else self._every

    async def _settle(self, unsettled: Unsettled) -> Settlement | None:
        """Decide what follows for one execution; nothing, where names have changed since it was read."""
        execution, notes, now = unsettled
        plan = await self._plans.get(execution.workflow_id, execution.version, execution.revision)
        if plan is None:
            return None
        passage = Passage(plan, execution, lambda: RunId(self._ids.make(now)), now)
        known: dict[str, StepState] = {}
        news = passage.heard(notes)
        if passage.must_end:
            known = await self._storage.executions.states(execution.run_id)
            news = {**passage.end_early(known, news), **news}
        guide = Guide(self._storage, plan, execution, passage, known)
        await guide.tell(news)
        return passage.settlement(notes, await guide.ending())
