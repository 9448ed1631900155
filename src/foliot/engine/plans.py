"""Versions of workflows, read once: they never change."""

from collections import OrderedDict
from typing import Final

from foliot.domain.workflow.passage import Plan
from foliot.errors import NotFound
from foliot.ports.executions import WorkflowStore

_KEPT: Final = 200


class Plans:
    """The plans that were used last."""

    def __init__(self, workflows: WorkflowStore) -> None:
        self._store = workflows
        self._plans: OrderedDict[tuple[str, int], Plan] = OrderedDict()

    async def get(self, workflow_id: str, version: int) -> Plan:
        key = (workflow_id, version)
        if key not in self._plans:
            found = await self._store.get([key])
            if key not in found:
                raise NotFound("workflow", f"{workflow_id} version {version}")
            self._plans[key] = Plan.of(found[key].spec)
            if len(self._plans) > _KEPT:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        return self._plans[key]
