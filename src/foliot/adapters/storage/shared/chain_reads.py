"""Reads of chains and their classes."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from foliot.adapters.storage.shared.chain_rows import (
    NO_DOCUMENT,
    bytes_of,
    chain_body_of,
    chain_record_of,
    shared_document_of,
)
from foliot.adapters.storage.shared.documents import read_column
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.rows import job_of, read_rows
from foliot.domain.chain.class_state import class_key
from foliot.domain.chain.state import ChainState, read_chain
from foliot.domain.ids import RunId
from foliot.domain.instant import LATEST
from foliot.domain.job.job import Job
from foliot.domain.run.run import Run
from foliot.errors import RowUnreadable
from foliot.ports.chains import ChainClass, ChainCursor, ChainDetails, ChainFilter, ChainPage

Runs = Callable[[Collection[RunId]], Read[dict[RunId, Run]]]

_JOB_BEGINS: Final = '{"kind":"chain"'
_PREFIX: Final = class_key("")
_AFTER_PREFIX: Final = _PREFIX[:-1] + chr(ord(_PREFIX[-1]) + 1)
_FIRST_PAGE: Final = ChainCursor(LATEST, RunId("~"))


class ChainReads:
    def __init__(self, project: str, runs: Runs) -> None:
        self._project = project
        self._runs = runs

    def classes(self) -> Read[list[ChainClass]]:
        """Return all classes by id: those that are defined, and those that have a document."""
        rows = yield Query("class_jobs", (self._project, _JOB_BEGINS))
        found, errors = read_rows(partial(job_of, self._project), rows)
        jobs: dict[str, Job | RowUnreadable] = {job.id: job for job in found}
        jobs |= {error.name: error for error in errors}
        rows = yield Query("class_documents", (self._project, _PREFIX, _AFTER_PREFIX))
        documents = {key.removeprefix(_PREFIX): shared_document_of(row) for key, *row in rows}
        return [
            ChainClass(name, class_key(name), documents.get(name, NO_DOCUMENT), jobs.get(name))
            for name in sorted(jobs.keys() | documents)
        ]

    def page(self, only: ChainFilter) -> Read[ChainPage]:
        before = only.before or _FIRST_PAGE
        values = (self._project, before.armed_at, before.run_id, only.state or "", only.limit)
        if only.is_open or only.state not in (None, ChainState.CLOSED):
            rows = yield Query("open_chains", (*values, only.class_id or ""))
        elif only.class_id is not None:
            rows = yield Query("chains_of_class", (*values, only.class_id))
        else:
            rows = yield Query("chains_page", values)
        chains = [chain_record_of(row) for row in rows]
        is_full = only.limit > 0 and len(chains) == only.limit
        return ChainPage(chains, ChainCursor(chains[-1].armed_at, chains[-1].run_id) if is_full else None)

    def details(self, name: str) -> Read[ChainDetails | None]:
        """Return the chain with this run, or the newest one with this id."""
        found = yield Query("chain_tree", (name,))
        run_id = RunId(name)
        if not found:
            rows = yield Query("find_chain", (self._project, name))
            if not rows:
                return None
            run_id = RunId(rows[0][0])
            found = yield Query("chain_tree", (run_id,))
        if not found:
            return None
        progress, body = found[0]
        chain = read_column(read_chain, bytes_of(progress), "chain", run_id)
        records = yield Query("get_chain", (run_id,))
        runs = yield from self._runs([run_id, *(step.run_id for step in chain.steps)])
        return ChainDetails(
            runs.pop(run_id),
            chain_record_of(records[0]) if records else None,
            chain,
            chain_body_of(body, run_id),
            runs,
        )
