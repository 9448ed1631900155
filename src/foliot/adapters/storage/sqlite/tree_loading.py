"""Reads unsettled trees, and the rows that decisions about them need, in one snapshot."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from foliot.adapters.storage.shared.chain_rows import NO_DOCUMENT, child_end_of, shared_document_of
from foliot.adapters.storage.shared.documents import (
    decode_job_spec,
    decode_names,
    encode,
    encode_names,
    read_column,
    read_overrides,
)
from foliot.adapters.storage.shared.item_rows import items_in
from foliot.adapters.storage.shared.tree_rows import (
    decode_workflow_spec,
    note_of,
    record_of,
    shown_state_of,
    state_of,
    step_output_of,
    tree_of,
)
from foliot.adapters.storage.sqlite.admission import is_expected
from foliot.adapters.storage.sqlite.database.session import SQL, Session
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.run.limits import job_limit
from foliot.domain.tree.kind import NOTHING_LOADED, Ancestry, ChildRun, Loaded, Wanted
from foliot.domain.tree.tree import DefinitionKey, Notes, Tree
from foliot.domain.workflow.execution import StepRecord
from foliot.domain.workflow.progress import StepState
from foliot.errors import RowUnreadable
from foliot.ports.trees import PREFETCHED_STEPS, Unsettled, UnsettledTree

T = TypeVar("T")


def read_unsettled(
    session: Session, project: str, limit: int, notes_per_tree: int, after: RunId | None, now: Instant
) -> Unsettled:
    noted = session.column(SQL["noted_trees"], (after or "", limit))
    overdue = session.column(SQL["overdue_trees"], (now, limit - len(noted)))
    rows = session.rows(SQL["unsettled_trees"], (encode_names({*noted, *overdue}),)) if noted or overdue else ()
    trees = [
        UnsettledTree(tree, _notes(session, tree, notes_per_tree), _prefetched(session, project, tree))
        for tree in map(tree_of, rows)
    ]
    return Unsettled(now, trees, RunId(noted[-1]) if len(noted) == limit else None)


def _notes(session: Session, tree: Tree, limit: int) -> Notes:
    rows = session.rows(SQL["notes_of_trees"], (tree.run_id, limit + 1))
    return Notes([note_of(row) for row in rows[:limit]], has_more=len(rows) > limit)


def _prefetched(session: Session, project: str, tree: Tree) -> Loaded:
    """Return the rows that a decision about a small tree probably needs."""
    if not 0 < tree.size <= PREFETCHED_STEPS:
        return NOTHING_LOADED
    try:
        # The time matters only to `busy`, which is not requested.
        return _read(session, project, Wanted(run_id=tree.run_id, all_states=True, paused_in=tree.job_id), Instant(0))
    except RowUnreadable:
        # The decision may not need the unreadable step: it loads the steps that it needs.
        return NOTHING_LOADED


def load_all(session: Session, project: str, wants: Sequence[Wanted], now: Instant) -> dict[RunId, Loaded]:
    return {wanted.run_id: _loaded(session, project, wanted, now) for wanted in wants}


def _loaded(session: Session, project: str, wanted: Wanted, now: Instant) -> Loaded:
    try:
        return _read(session, project, wanted, now)
    except RowUnreadable as error:
        return Loaded(error=error)


def _read(session: Session, project: str, wanted: Wanted, now: Instant) -> Loaded:
    jobs, paused_jobs = _jobs(session, project, wanted)
    loaded = Loaded(
        states=_states(session, wanted),
        has_all_states=wanted.all_states,
        outputs=_outputs(session, wanted),
        jobs=jobs,
        paused_jobs=paused_jobs,
        busy=_busy(session, project, wanted, now),
        definitions=_definitions(session, project, wanted),
    )
    if wanted.paused_in is not None:
        paused = session.column(SQL["paused_steps"], (project, wanted.paused_in))
        loaded = replace(loaded, paused=frozenset(paused))
    if wanted.overrides:
        row = session.row(SQL["overrides"], (encode_names([wanted.run_id]),))
        overrides = read_overrides(None if row is None else row[1], wanted.run_id)
        loaded = replace(loaded, overrides=overrides, has_overrides=True)
    if wanted.body:
        row = session.row(SQL["definitions_of_trees"], (encode_names([wanted.run_id]),))
        loaded = replace(loaded, body=_existing(row, wanted.run_id)[1])
    if wanted.items is not None:
        first, count = wanted.items
        rows = session.rows(SQL["items_between"], (wanted.run_id, first, first + count))
        loaded = replace(loaded, items=items_in(wanted.run_id, rows, first, count))
    if wanted.children:
        rows = session.rows(SQL["named_children"], (wanted.run_id, encode_names(wanted.children)))
        loaded = replace(
            loaded, children={key: ChildRun(run_id, bool(has_started)) for key, run_id, has_started in rows}
        )
    if wanted.ends:
        rows = session.rows(SQL["ended_children"], (wanted.run_id, encode_names(wanted.ends)))
        loaded = replace(loaded, ends={key: child_end_of(end) for key, *end in rows})
    if wanted.shared is not None:
        rows = session.rows(SQL["shared_documents"], (project, encode_names([wanted.shared])))
        loaded = replace(loaded, shared=shared_document_of(rows[0][1:]) if rows else NO_DOCUMENT)
    if wanted.parent is not None:
        loaded = replace(loaded, parent=_ancestry(session, wanted.parent))
    return loaded


def _states(session: Session, wanted: Wanted) -> Mapping[str, StepState]:
    run_id = wanted.steps_of or wanted.run_id
    if wanted.all_states:
        rows = session.rows(SQL["all_states"], (run_id,))
    else:
        rows = session.rows(SQL["named_states"], (run_id, encode_names(wanted.states))) if wanted.states else []
    return {step: state_of(step, rest) for step, *rest in rows}


def _outputs(session: Session, wanted: Wanted) -> Mapping[str, Any]:
    if not wanted.outputs:
        return {}
    rows = session.rows(SQL["outputs"], (wanted.steps_of or wanted.run_id, encode_names(wanted.outputs)))
    return {step: step_output_of(rest) for step, *rest in rows}


def _jobs(session: Session, project: str, wanted: Wanted) -> tuple[Mapping[JobId, JobSpec | None], frozenset[JobId]]:
    """Return the wanted jobs, and which of them are paused."""
    if not wanted.jobs:
        return {}, frozenset()
    rows = session.rows(SQL["get_jobs"], (project, encode_names(wanted.jobs)))
    found = {job_id: read_column(decode_job_spec, spec, "job", job_id) for job_id, spec, *_ in rows}
    paused = frozenset(job_id for job_id, *_, paused_at, _ in rows if paused_at is not None)
    return {job_id: found.get(job_id) for job_id in wanted.jobs}, paused


def _busy(session: Session, project: str, wanted: Wanted, now: Instant) -> Mapping[JobId, bool]:
    """Return jobs with a run that takes a place in its limit or, without limits, that is due and has not ended."""
    if not wanted.busy:
        return {}
    keys = {job_limit(job_id, 1).key: job_id for job_id in wanted.busy}
    held = {keys[key] for key in session.column(SQL["busy_keys"], (encode_names(keys),))}
    return {job_id: job_id in held or is_expected(session, project, job_id, now) for job_id in wanted.busy}


def _definitions(session: Session, project: str, wanted: Wanted) -> Mapping[DefinitionKey, Any]:
    key = wanted.definition
    if key is None:
        return {}
    job_id, version, _ = key
    rows = session.rows(SQL["named_versions"], (project, encode([job_id]), encode([version])))
    kind = f"version {version} of workflow"
    return {key: read_column(decode_workflow_spec, rows[0][2], kind, job_id) if rows else None}


def _ancestry(session: Session, run_id: RunId) -> Ancestry:
    root_id, depth, held = _existing(session.row(SQL["ancestry"], (run_id,)), run_id)
    return Ancestry(root_id, depth, () if held is None else read_column(decode_names, held, "execution", run_id))


def _existing(found: T | None, run_id: RunId) -> T:
    if found is None:
        raise RowUnreadable("execution", run_id, ValueError("it is missing"))
    return found


def read_steps(session: Session, run_id: RunId) -> list[StepRecord]:
    """Decode all steps for display, including unreadable ones."""
    runs = {step: run for step, *run in session.rows(SQL["step_runs"], (run_id,))}
    states = [(step, shown_state_of(step, rest)) for step, *rest in session.rows(SQL["all_states"], (run_id,))]
    return [record_of(name, state, runs.get(name)) for name, state in states]
