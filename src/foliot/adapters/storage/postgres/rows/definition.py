"""Finds the definitions of runs (`shared.definition_cache`). A process reads each definition once."""

from collections.abc import Collection, Mapping

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.shared.definition_cache import (
    NO_ROWS,
    DefinitionRows,
    Definitions,
    Missing,
    Reference,
    ResolvedDefinition,
)
from foliot.domain.ids import DefinitionId, JobId, RunId


class DefinitionReader:
    """Used by one storage."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._cache = Definitions()

    async def find(
        self, source: Database | Transaction, references: Collection[Reference]
    ) -> Mapping[DefinitionId, ResolvedDefinition]:
        """Return the definition of each reference, by its id. Reads only missing rows, each table once."""
        missing = self._cache.missing(references)
        return self._cache.find(references, await self._read(source, missing) if missing else NO_ROWS)

    async def _read(self, source: Database | Transaction, missing: Missing) -> DefinitionRows:
        jobs, versions, bodies = list(missing.jobs), sorted(missing.versions), list(missing.bodies)
        job_rows = await source.rows("get_jobs", self._project, jobs) if jobs else []
        version_rows = await source.rows("named_versions", self._project, *columns(versions)) if versions else []
        body_rows = await source.rows("definitions_of_trees", bodies) if bodies else []
        return DefinitionRows(
            {JobId(row["id"]): (row["spec"], row["revision"]) for row in job_rows},
            {(row["id"], row["version"]): row["spec"] for row in version_rows},
            {RunId(run_id): body for run_id, body in body_rows},
        )
