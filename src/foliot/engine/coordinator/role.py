"""The coordinator role: a worker of the reserved queue @trees that opens trees, and a settler."""

from collections.abc import Sequence
from typing import Final

from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.outcome import Outcome
from foliot.engine.coordinator.decider import TreeDecider
from foliot.engine.coordinator.inputs import Inputs
from foliot.engine.coordinator.pruner import ExecutionPruner
from foliot.engine.coordinator.settler import Settler
from foliot.engine.coordinator.starter import Starter
from foliot.engine.loop import Duty
from foliot.engine.settings import Parts, Settings
from foliot.engine.worker.attempt import RunningAttempt
from foliot.engine.worker.role import WorkerRole
from foliot.ports.topic import Topic

SLOTS: Final = 100
"""How many trees are opened concurrently."""


class CoordinatorRole:
    """The duties of a coordinator. They hold no state that a crash could lose: any number of processes may run them."""

    def __init__(self, parts: Parts, settings: Settings) -> None:
        store = parts.storage.trees
        decider = TreeDecider(store)
        pruner = ExecutionPruner(parts.storage.upkeep, settings.retention)
        inputs = Inputs(parts.storage.items, parts.resolvers, parts.clock)
        self._starter = Starter(store, parts.ids, parts.trees, decider, inputs, pruner)
        self.worker = WorkerRole(
            parts.storage.work,
            parts.tree_queue,
            parts.clock,
            parts.ids,
            self._execute,
            label=f"{settings.label} coordinator",
            queues=(TREES_QUEUE,),
            slots=SLOTS,
            process=parts.process,
            lease=settings.lease,
            poll=settings.poll,
        )
        self.settler = Settler(
            store,
            parts.ids,
            parts.trees,
            decider,
            wake=parts.storage.signal(Topic.NOTES),
            pruner=pruner,
            every=settings.poll,
        )
        self.duties: Sequence[Duty] = (*self.worker.duties, self.settler)

    async def _execute(self, running: RunningAttempt) -> Outcome | None:
        return await self._starter.open(running.claim, running.definition, running.interruptibly)
