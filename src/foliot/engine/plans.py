"""Versions of workflows, read once. They do not change, but jobs that they name may get other ids: the revision of the
workflow's job says when to read again."""

from collections import OrderedDict
from typing import Final, NamedTuple

from foliot.domain.ids import JobId
from foliot.domain.workflow.passage import Plan
from foliot.errors import NotFound
from foliot.ports.storage import Storage

_KEPT: Final = 200


class _Read(NamedTuple):
    plan: Plan
    revision: int | None
    """Of the workflow's job, before and after it was read."""


class Plans:
    """The plans that were used last."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._plans: OrderedDict[tuple[str, int], _Read] = OrderedDict()

    async def get(self, workflow_id: str, version: int, revision: int | None) -> Plan | None:
        """A version as it is at this revision of the workflow's job, None being that of a job that is gone.

        No plan: the job is not of that revision any more. Whoever asks has outdated names and looks again.
        """
        key = (workflow_id, version)
        known = self._plans.get(key)
        if known is None or revision is None or known.revision != revision:
            found = await self._storage.workflows.get([key])
            if await self._revision(workflow_id) != revision:
                return None
            if key not in found:
                raise NotFound("workflow", f"{workflow_id} version {version}")
            known = self._plans[key] = _Read(Plan.of(found[key].spec), revision)
            if len(self._plans) > _KEPT:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        return known.plan

    async def _revision(self, workflow_id: str) -> int | None:
        job = (await self._storage.jobs.get([JobId(workflow_id)])).get(JobId(workflow_id))
        return None if job is None else job.revision
