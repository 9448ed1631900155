"""Find what runs are to do (`shared.definition_cache`). What this process has read before is not read again."""

from collections.abc import Collection, Mapping

from foliot.adapters.storage.postgres.database.transaction import Database, Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.shared.definition_cache import NOTHING_FOUND, Definitions, Found, Known, Missing, Reference
from foliot.domain.ids import DefinitionId, JobId, RunId


class DefinitionReader:
    """One for each storage."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._known = Definitions()

    async def find(
        self, source: Database | Transaction, references: Collection[Reference]
    ) -> Mapping[DefinitionId, Known]:
        """The definitions, by the ids that were asked for. Reads only what is missing, each table once."""
        missing = self._known.missing(references)
        return self._known.find(references, await self._read(source, missing) if missing else NOTHING_FOUND)

    async def _read(self, source: Database | Transaction, missing: Missing) -> Found:
        jobs, versions, bodies = list(missing.jobs), sorted(missing.versions), list(missing.bodies)
        job_rows = await source.rows("get_jobs", self._project, jobs) if jobs else []
        version_rows = await source.rows("named_versions", self._project, *columns(versions)) if versions else []
        body_rows = await source.rows("definitions_of_trees", bodies) if bodies else []
        return Found(
            {JobId(row["id"]): (row["spec"], row["revision"]) for row in job_rows},
            {(row["id"], row["version"]): row["spec"] for row in version_rows},
            {RunId(run_id): body for run_id, body in body_rows},
        )
