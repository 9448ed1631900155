"""Removes surplus executions when one has ended. The janitor would remove them too, but minutes later."""

import logging
from collections.abc import Collection
from typing import Final

from foliot.errors import StorageUnavailable
from foliot.ports.upkeep import Retention, Upkeep

log = logging.getLogger(__name__)

LIMIT: Final = 1_000
"""How many runs are removed at most when executions have ended. The next end or the janitor removes the rest."""


class ExecutionPruner:
    """Keeps the number of finished executions within retention."""

    def __init__(self, upkeep: Upkeep, retention: Retention) -> None:
        self._upkeep = upkeep
        self._retention = retention

    async def executions_ended(self, workflow_ids: Collection[str]) -> None:
        """Remove the surplus after executions of these workflows have ended."""
        has_limit = self._retention.executions_per_workflow is not None or self._retention.executions_total is not None
        if not workflow_ids or not has_limit:
            return
        try:
            removed = await self._upkeep.prune_executions(workflow_ids, self._retention, limit=LIMIT)
        except StorageUnavailable:
            # The ended executions are saved; the janitor removes the surplus later.
            log.warning("executions_not_pruned", extra={"workflows": sorted(workflow_ids)}, exc_info=True)
            return
        if removed:
            log.debug("executions_pruned", extra={"workflows": sorted(workflow_ids), "runs": removed})
