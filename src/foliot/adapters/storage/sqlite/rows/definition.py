"""Reads definitions of runs, each once in the life of a process (`shared.definition_cache`)."""

from collections.abc import Collection, Mapping

from foliot.adapters.storage.shared.definition_cache import NOTHING_FOUND, Definitions, Found, Known, Missing, Reference
from foliot.adapters.storage.shared.documents import encode, encode_names
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.ids import DefinitionId


class DefinitionReader:
    """One for each thread that reads definitions."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._known = Definitions()

    def find(self, session: Session, references: Collection[Reference]) -> Mapping[DefinitionId, Known]:
        """The definitions, by the ids that were asked for. Reads only what is missing, each table once."""
        missing = self._known.missing(references)
        return self._known.find(references, self._read(session, missing) if missing else NOTHING_FOUND)

    def _read(self, session: Session, missing: Missing) -> Found:
        jobs = session.rows(SQL["get_jobs"], (self._project, encode_names(missing.jobs))) if missing.jobs else ()
        named = [encode(column) for column in zip(*missing.versions, strict=True)]
        versions = session.rows(SQL["named_versions"], (self._project, *named)) if named else ()
        bodies = session.rows(SQL["definitions_of_trees"], (encode_names(missing.bodies),)) if missing.bodies else ()
        return Found(
            {job_id: (spec, revision) for job_id, spec, revision, *_ in jobs},
            {(workflow_id, version): spec for workflow_id, version, spec, _ in versions},
            dict(bodies),
        )
