"""Finds the definitions of runs (`shared.definition_cache`). A process reads each definition once."""

from collections.abc import Collection, Mapping

from foliot.adapters.storage.shared.definition_cache import (
    NO_ROWS,
    DefinitionRows,
    Definitions,
    Missing,
    Reference,
    ResolvedDefinition,
)
from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.ids import DefinitionId


class DefinitionReader:
    """Each owner has its own: the cache has no lock, and must not be used by two threads at once."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._cache = Definitions()

    def find(self, session: Session, references: Collection[Reference]) -> Mapping[DefinitionId, ResolvedDefinition]:
        """Return the definition of each reference, by its id. Reads only missing rows, each table once."""
        missing = self._cache.missing(references)
        return self._cache.find(references, self._read(session, missing) if missing else NO_ROWS)

    def _read(self, session: Session, missing: Missing) -> DefinitionRows:
        jobs = session.rows(SQL["get_jobs"], (self._project, encode_names(missing.jobs))) if missing.jobs else ()
        named = [encode(column) for column in zip(*missing.versions, strict=True)]
        versions = session.rows(SQL["named_versions"], (self._project, *named)) if named else ()
        bodies = session.rows(SQL["definitions_of_trees"], (encode_names(missing.bodies),)) if missing.bodies else ()
        return DefinitionRows(
            {job_id: (spec, revision) for job_id, spec, revision, *_ in jobs},
            {(workflow_id, version): spec for workflow_id, version, spec, _ in versions},
            dict(bodies),
        )
