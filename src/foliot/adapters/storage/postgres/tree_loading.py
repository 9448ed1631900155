"""Reads the rows that decisions about trees want (`domain.tree.kind.Wanted`).

Each kind of row is read with one statement for all trees. An unreadable row is an error only of the trees that want it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar

from foliot.adapters.storage.postgres.admission import NEWEST_RUNS
from foliot.adapters.storage.postgres.database.transaction import Database
from foliot.adapters.storage.postgres.database.values import columns
from foliot.adapters.storage.shared.chain_rows import NO_DOCUMENT, child_end_of, shared_document_of
from foliot.adapters.storage.shared.documents import decode_names, read_column, read_overrides
from foliot.adapters.storage.shared.item_rows import items_in
from foliot.adapters.storage.shared.rows import Row, job_of
from foliot.adapters.storage.shared.tree_rows import state_of, step_output_of, version_of
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job.job import Job
from foliot.domain.run.limits import job_limit
from foliot.domain.tree.kind import Ancestry, ChildEnd, ChildRun, Loaded, SharedDocument, Wanted
from foliot.domain.workflow.output import StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import RowUnreadable

T = TypeVar("T")

_FIRST: Final = itemgetter(0)
_FIRST_TWO: Final = itemgetter(0, 1)

_BySteps = Mapping[RunId, Mapping[str, T | RowUnreadable]]
"""By tree and step."""


class _Found(NamedTuple):
    """The rows that were read for all trees, by key. An unreadable row is represented by its error."""

    states: _BySteps[StepState]
    outputs: _BySteps[StepOutput]
    jobs: Mapping[JobId, Job | RowUnreadable]
    paused: Mapping[str, Collection[str]]
    busy: Collection[JobId]
    overrides: Mapping[RunId, bytes | RowUnreadable | None]
    bodies: Mapping[RunId, bytes]
    definitions: Mapping[tuple[str, int], WorkflowSpec | RowUnreadable]
    parents: Mapping[RunId, Ancestry | RowUnreadable]
    items: Mapping[RunId, Sequence[Row]]
    children: Mapping[RunId, Mapping[str, ChildRun]]
    ends: Mapping[RunId, Mapping[str, ChildEnd]]
    shared: Mapping[str, SharedDocument]


async def load_wanted(
    database: Database, project: str, wants: Sequence[Wanted], at: Instant | None
) -> dict[RunId, Loaded]:
    reader = _Reader(database, project)
    found = _Found(
        await reader.states(wants),
        await reader.outputs(wants),
        await reader.jobs({job_id for wanted in wants for job_id in wanted.jobs}),
        await reader.paused({wanted.paused_in for wanted in wants if wanted.paused_in is not None}),
        await reader.busy({job_id for wanted in wants for job_id in wanted.busy}, at),
        await reader.overrides([wanted.run_id for wanted in wants if wanted.overrides]),
        await reader.bodies([wanted.run_id for wanted in wants if wanted.body]),
        await reader.definitions({wanted.definition[:2] for wanted in wants if wanted.definition is not None}),
        await reader.parents({wanted.parent for wanted in wants if wanted.parent is not None}),
        await reader.items(wants),
        await reader.children(wants),
        await reader.ends(wants),
        await reader.shared({wanted.shared for wanted in wants if wanted.shared is not None}),
    )
    return {wanted.run_id: _loaded(wanted, found) for wanted in wants}


class _Reader:
    """Reads each kind of row with one statement, or with no statement if it is not wanted."""

    def __init__(self, database: Database, project: str) -> None:
        self._rows = database.rows
        self._project = project

    async def states(self, wants: Sequence[Wanted]) -> _BySteps[StepState]:
        named = {(_steps_of(wanted), step) for wanted in wants for step in wanted.states}
        whole = {_steps_of(wanted) for wanted in wants if wanted.all_states}
        rows = await self._rows("named_states", *columns(sorted(named))) if named else []
        rows += await self._rows("states_of_trees", sorted(whole)) if whole else []
        return _by_steps(_read(rows, _FIRST_TWO, lambda row: state_of(row[1], row[2:])))

    async def outputs(self, wants: Sequence[Wanted]) -> _BySteps[StepOutput]:
        named = {(_steps_of(wanted), step) for wanted in wants for step in wanted.outputs}
        rows = await self._rows("outputs", *columns(sorted(named))) if named else []
        return _by_steps(_read(rows, _FIRST_TWO, lambda row: step_output_of(row[2:])))

    async def jobs(self, job_ids: Collection[JobId]) -> dict[JobId, Job | RowUnreadable]:
        rows = await self._rows("get_jobs", self._project, sorted(job_ids)) if job_ids else []
        return _read(rows, _FIRST, lambda row: job_of(self._project, row))

    async def paused(self, workflow_ids: Collection[str]) -> dict[str, set[str]]:
        rows = await self._rows("paused_in_workflows", self._project, sorted(workflow_ids)) if workflow_ids else []
        paused: dict[str, set[str]] = {workflow_id: set() for workflow_id in workflow_ids}
        for workflow_id, step in rows:
            paused[workflow_id].add(step)
        return paused

    async def busy(self, job_ids: Collection[JobId], at: Instant | None) -> set[JobId]:
        """Return jobs with a run that takes a place in its limit or, without limits, that is due and has not ended."""
        asked = columns((job_id, job_limit(job_id, 1).key) for job_id in sorted(job_ids))
        rows = await self._rows("busy_jobs", self._project, *asked, at, NEWEST_RUNS) if asked else []
        return {row[0] for row in rows}

    async def overrides(self, run_ids: list[RunId]) -> dict[RunId, bytes | RowUnreadable | None]:
        rows = await self._rows("overrides", run_ids) if run_ids else []
        return _read(rows, _FIRST, lambda row: read_overrides(row[1], row[0]))

    async def bodies(self, run_ids: list[RunId]) -> dict[RunId, bytes]:
        rows = await self._rows("definitions_of_trees", run_ids) if run_ids else []
        return {row[0]: row[1].encode() for row in rows}

    async def definitions(
        self, keys: Collection[tuple[str, int]]
    ) -> dict[tuple[str, int], WorkflowSpec | RowUnreadable]:
        rows = await self._rows("named_versions", self._project, *columns(sorted(keys))) if keys else []
        return _read(rows, _FIRST_TWO, lambda row: version_of(row).spec)

    async def parents(self, run_ids: Collection[RunId]) -> dict[RunId, Ancestry | RowUnreadable]:
        rows = await self._rows("ancestry", sorted(run_ids)) if run_ids else []
        return _read(rows, _FIRST, _ancestry_of)

    async def items(self, wants: Sequence[Wanted]) -> dict[RunId, list[Row]]:
        asked = [(one.run_id, one.items[0], sum(one.items)) for one in wants if one.items is not None]
        rows = await self._rows("items_between", *columns(asked)) if asked else []
        found: dict[RunId, list[Row]] = {}
        for run_id, *row in rows:
            found.setdefault(run_id, []).append(row)
        return found

    async def children(self, wants: Sequence[Wanted]) -> dict[RunId, dict[str, ChildRun]]:
        asked = [(wanted.run_id, key) for wanted in wants for key in wanted.children]
        rows = await self._rows("named_children", *columns(asked)) if asked else []
        found: dict[RunId, dict[str, ChildRun]] = {}
        for parent_id, key, run_id, has_started in rows:
            found.setdefault(parent_id, {})[key] = ChildRun(run_id, has_started)
        return found

    async def ends(self, wants: Sequence[Wanted]) -> dict[RunId, dict[str, ChildEnd]]:
        asked = [(wanted.run_id, key) for wanted in wants for key in wanted.ends]
        rows = await self._rows("ended_children", *columns(asked)) if asked else []
        found: dict[RunId, dict[str, ChildEnd]] = {}
        for parent_id, key, *end in rows:
            found.setdefault(parent_id, {})[key] = child_end_of(end)
        return found

    async def shared(self, keys: Collection[str]) -> dict[str, SharedDocument]:
        rows = await self._rows("shared_documents", self._project, sorted(keys)) if keys else []
        return {row[0]: shared_document_of(row[1:]) for row in rows}


def _loaded(wanted: Wanted, found: _Found) -> Loaded:
    states = found.states.get(_steps_of(wanted), {})
    key = wanted.definition
    try:
        jobs = {job_id: _known(found.jobs.get(job_id)) for job_id in wanted.jobs}
        return Loaded(
            states=_present(states, states if wanted.all_states else wanted.states),
            has_all_states=wanted.all_states,
            outputs=_present(found.outputs.get(_steps_of(wanted), {}), wanted.outputs),
            jobs={job_id: None if job is None else job.spec for job_id, job in jobs.items()},
            paused_jobs=frozenset(job.id for job in jobs.values() if job is not None and job.paused_at is not None),
            paused=None if wanted.paused_in is None else found.paused[wanted.paused_in],
            busy={job_id: job_id in found.busy for job_id in wanted.busy},
            overrides=_known(found.overrides.get(wanted.run_id)) if wanted.overrides else None,
            has_overrides=wanted.overrides,
            body=_existing(found.bodies, wanted.run_id) if wanted.body else None,
            definitions={} if key is None else {key: _known(found.definitions.get(key[:2]))},
            parent=None if wanted.parent is None else _existing(found.parents, wanted.parent),
            items=()
            if wanted.items is None
            else items_in(wanted.run_id, found.items.get(wanted.run_id, ()), *wanted.items),
            children=found.children.get(wanted.run_id, {}),
            ends=found.ends.get(wanted.run_id, {}),
            shared=None if wanted.shared is None else found.shared.get(wanted.shared, NO_DOCUMENT),
        )
    except RowUnreadable as error:
        return Loaded(error=error)


def _steps_of(wanted: Wanted) -> RunId:
    """Return the tree whose steps are wanted."""
    return wanted.run_id if wanted.steps_of is None else wanted.steps_of


def _present(found: Mapping[str, T | RowUnreadable], names: Iterable[str]) -> dict[str, T]:
    return {name: _existing(found, name) for name in names if name in found}


def _existing(found: Mapping[Any, T | RowUnreadable], key: object) -> T:
    """Return the value of the key. Raises `RowUnreadable` if its row is unreadable or missing."""
    known = _known(found.get(key))
    if known is None:
        raise RowUnreadable("execution", key, ValueError("it is missing"))
    return known


def _known(found: T | RowUnreadable | None) -> T | None:
    if isinstance(found, RowUnreadable):
        raise found
    return found


def _read(rows: Iterable[Row], key: Callable[[Row], Any], read: Callable[[Row], T]) -> dict[Any, T | RowUnreadable]:
    """Return the values of rows, by their keys."""
    found: dict[Any, T | RowUnreadable] = {}
    for row in rows:
        try:
            found[key(row)] = read(row)
        except RowUnreadable as error:
            found[key(row)] = error
    return found


def _by_steps(found: Mapping[tuple[RunId, str], T | RowUnreadable]) -> _BySteps[T]:
    steps: dict[RunId, dict[str, T | RowUnreadable]] = {}
    for (run_id, name), value in found.items():
        steps.setdefault(run_id, {})[name] = value
    return steps


def _ancestry_of(row: Row) -> Ancestry:
    run_id, root_id, depth, held = row
    names = () if held is None else read_column(decode_names, held, "execution", run_id)
    return Ancestry(root_id, depth, names)
