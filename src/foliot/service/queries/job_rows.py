"""Queries about jobs in lists."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from foliot.domain.ids import JobId
from foliot.domain.job.state import JobState
from foliot.domain.vocabulary.kind import GATE_KIND
from foliot.domain.workflow.spec import GRAPH
from foliot.ports.clock import Clock
from foliot.ports.job_rows import JobRowFilter
from foliot.ports.storage import Storage
from foliot.service.queries.job_row_view import JobFacets, JobRow, view_rows
from foliot.service.queries.job_view import kind_name
from foliot.service.references import References

_TAGS: Final = 200
_STORED_KINDS: Final[Mapping[str, str]] = {kind_name(kind): kind for kind in (GRAPH, GATE_KIND)}


class JobRowQueries:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._references = References(storage)
        self._clock = clock

    async def page(
        self,
        *,
        search: str | None = None,
        tag: str | None = None,
        kind: str | None = None,
        state: JobState | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> tuple[list[JobRow], str | None]:
        """Return jobs by id, and after which one the next page begins, if there may be one.

        `search`: a part of the id, the name or a tag, in any case. `kind`: as `JobView` names it. A search may end a
        page early.
        """
        stored = None if kind is None else _STORED_KINDS.get(kind, kind)
        only = JobRowFilter(
            search=search, tag=tag, kind=stored, state=state, after=None if after is None else JobId(after), limit=limit
        )
        found = await self._queries.job_rows(only)
        return view_rows(found, self._clock.now()), found.next

    async def facets(self) -> JobFacets:
        """Count jobs by state, kind and tag."""
        found = await self._queries.job_facets()
        kinds = Counter({kind_name(kind): count for kind, count in found.kinds.items()})
        return JobFacets(
            total=found.total,
            states=dict(found.states),
            kinds=dict(sorted(kinds.items())),
            tags=dict(sorted(Counter(found.tags).most_common(_TAGS))),
            is_complete=found.is_complete,
        )

    async def get(self, job_id: str) -> JobRow:
        found = await self._queries.named_job_rows([JobId(job_id)])
        if not found.rows:
            raise await self._references.no_job(job_id)
        return view_rows(found, self._clock.now())[0]
