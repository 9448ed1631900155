"""A cache of workflow versions.

A version never changes, except that renaming a job that it names changes that name and raises the revision of the
workflow's job. So the revision is part of the key. A job that an open execution names cannot be renamed.
"""

from collections import OrderedDict
from typing import Final

from foliot.domain.workflow.passage import Plan
from foliot.errors import NotFound
from foliot.ports.storage import Storage

_KEPT: Final = 200


class Plans:
    """The plans that were used last."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._plans: OrderedDict[tuple[str, int, int | None], Plan] = OrderedDict()

    async def get(self, workflow_id: str, version: int, revision: int | None) -> Plan:
        """A version, at this revision of the workflow's job. That of a deleted workflow (None) is read each time:
        another workflow may get its id."""
        key = (workflow_id, version, revision)
        plan = self._plans.get(key) or await self._read(workflow_id, version)
        if revision is not None:
            self._plans[key] = plan
            self._plans.move_to_end(key)
        if len(self._plans) > _KEPT:
            self._plans.popitem(last=False)
        return plan

    async def _read(self, workflow_id: str, version: int) -> Plan:
        found = await self._storage.workflows.get([(workflow_id, version)])
        if (workflow_id, version) not in found:
            raise NotFound("workflow", f"{workflow_id} version {version}")
        return Plan.of(found[workflow_id, version].spec)
