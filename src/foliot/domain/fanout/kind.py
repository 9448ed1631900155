"""The fanout kind: a tree with a child for each item, and a reducer.

    items 0 ... n-1        ended | open (running or waiting) | not started
                                                             ^ progress.next

Children are created a bounded number ahead of those that may run, in the order of the items. A limit that all of them
share keeps at most `concurrency` running, on all workers together: the next one starts in the transaction that ends
another one, without waiting for a decision.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct, convert
from msgspec.structs import replace

from foliot.domain.fanout.item import item_key
from foliot.domain.fanout.progress import Progress, ReducerState, is_reducer_due, status_of
from foliot.domain.fanout.source import ItemSource, source_of
from foliot.domain.fanout.spec import FANOUT, OWN_FIELDS, FanoutFields, inner_spec
from foliot.domain.fanout.summary import summary_of
from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import Instant, Millis
from foliot.domain.job.definition import Definition, tree_definition_id
from foliot.domain.job.job import ItemVariables, JobSpec, Options
from foliot.domain.run.limits import Limit, shared_limit
from foliot.domain.run.outcome import Reason
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.kind import Loaded, Start, Wanted
from foliot.domain.tree.settlement import Opening, Settlement, note_ids
from foliot.domain.tree.tree import Note, Notes, Tree
from foliot.errors import InvalidRun, NotFound, RowUnreadable

ITEM_TRIGGER: Final = "fanout"
REDUCER_TRIGGER: Final = "reducer"
REDUCER_KEY: Final = "reducer"
_LEAST_AHEAD: Final = 100
_MOST_AHEAD: Final = 1_000
"""How many children wait, at least and at most, beside those that may run."""


class FanoutBody(Struct, frozen=True, kw_only=True):
    """The immutable data of a fanout, stored when it is opened."""

    items: int
    """The number of items."""
    fields: FanoutFields
    child: JobId
    """The job id of the children."""
    reducer: JobId
    jobs: Mapping[JobId, JobSpec]
    """The definitions of the children and of the reducer."""

    @property
    def window(self) -> int:
        """How many children may be open."""
        concurrency = self.fields.concurrency
        return concurrency + min(max(concurrency, _LEAST_AHEAD), _MOST_AHEAD)


_BODY: Final = msgspec.json.Decoder(FanoutBody)


class FanoutKind:
    """Implements `domain.tree.kind.TreeKind`."""

    name = FANOUT

    def read_body(self, body: bytes) -> FanoutBody:
        return _BODY.decode(body)

    def compile(self, definition: Any) -> Any:
        raise InvalidRun("fanouts have no versions", hint="The body of a fanout holds its definition.")

    def source(self, definition: Definition) -> ItemSource | None:
        return source_of(_fields(definition))

    def begin(self, start: Start, loaded: Loaded, now: Instant, ids: IdSource) -> Opening | Wanted:
        fields = _fields(start.definition)
        if fields.job is not None and fields.job not in loaded.jobs:
            return Wanted(run_id=start.claim.run_id, jobs=frozenset({JobId(fields.job)}))
        body = _body(start, fields, loaded)
        tree = start.tree(version=0, open=0, body=body)
        settlement = _settle(tree, Progress(), loaded, now, ids)
        if isinstance(settlement, Wanted):
            return settlement
        return Opening(start.claim, settlement.tree, msgspec.json.encode(body), settlement.runs, ended=settlement.ended)

    def decide(self, tree: Tree, notes: Notes, loaded: Loaded, now: Instant, ids: IdSource) -> Settlement | Wanted:
        progress = _progress(tree)
        progress.end(
            (int(note.child_key), note.status, _duration(note))
            for note in notes.ended
            if note.child_key is not None and note.child_key.isdigit() and note.status is not None
        )
        reduced = next((note for note in notes.ended if note.child_key == REDUCER_KEY), None)
        if reduced is not None:
            progress.reducer = ReducerState.ENDED
        settlement = _settle(tree, progress, loaded, now, ids, reduced)
        return settlement if isinstance(settlement, Wanted) else settlement._replace(notes=note_ids(notes.items))


# -- the beginning


def _fields(definition: Definition) -> FanoutFields:
    return convert({name: value for name, value in definition.spec.items() if name in OWN_FIELDS}, FanoutFields)


def _body(start: Start, fields: FanoutFields, loaded: Loaded) -> FanoutBody:
    job_id, items = start.claim.job_id, start.items
    child, reducer = JobId(f"{job_id}.item"), JobId(f"{job_id}.reducer")
    item = ItemVariables(name=fields.item_var, count=items)
    if fields.job is None:
        options = replace(convert(fields.child_options, Options), timeout=fields.per_item_timeout)
        spec = JobSpec(kind=fields.inner_kind, spec=inner_spec(start.definition.spec), written=start.definition.written)
        jobs = {child: replace(spec, options=options, item=item)}
    else:
        child = JobId(fields.job)
        jobs = {child: replace(_registered(child, fields, loaded), item=item)}
    if fields.reducer is not None:
        given = fields.reducer
        of_children = convert(fields.child_options, Options)
        place = {name: getattr(of_children, name) for name in ("queue", "executor", "labels")}
        options = Options(retry=given.retry, timeout=given.timeout, **place)
        jobs[reducer] = JobSpec(kind=given.kind, spec=given.spec, options=options, manifest=True)
    own = replace(fields, items=None)  # they are stored apart
    return FanoutBody(items=items, fields=own, child=child, reducer=reducer, jobs=jobs)


def _registered(job_id: JobId, fields: FanoutFields, loaded: Loaded) -> JobSpec:
    spec = loaded.jobs[job_id]
    if spec is None:
        raise NotFound("job", job_id)
    timeout = spec.options.timeout if fields.per_item_timeout is None else Millis(fields.per_item_timeout)
    return replace(spec, options=replace(spec.options, timeout=timeout))


# -- settling


def _progress(tree: Tree) -> Progress:
    try:
        return Progress.read(tree.progress)
    except UNREADABLE as cause:
        raise RowUnreadable("fanout", tree.run_id, cause) from cause


def _settle(
    tree: Tree, progress: Progress, loaded: Loaded, now: Instant, ids: IdSource, reduced: Note | None = None
) -> Settlement | Wanted:
    """Decide from the counters: start children, start the reducer, or end."""
    body: FanoutBody = tree.body
    if tree.is_to_end(now):
        return _end_early(tree, progress, loaded, now, reduced)
    first, count = progress.next, min(body.window - progress.open_count, body.items - progress.next)
    if count > 0 and len(loaded.items) < count:
        return Wanted(run_id=tree.run_id, items=(first, count))
    documents = loaded.items[: max(count, 0)]
    run_ids = ids.batch(now, len(documents)) if documents else []
    started = zip(progress.start(len(documents)), documents, run_ids, strict=True)
    runs = [_child(tree, body, index, document, RunId(run_id), now) for index, document, run_id in started]
    if progress.next == body.items and not progress.open and progress.reducer is ReducerState.PENDING:
        runs += _reducer(tree, body, progress, now, ids)
    after = tree._replace(open=_open(body, progress), progress=progress.encode())
    return Settlement(after, (), runs, ended=None if after.open else _ended(body, progress, reduced))


def _open(body: FanoutBody, progress: Progress) -> int:
    is_reducing = progress.reducer is ReducerState.RUNNING
    return body.items - progress.next + progress.open_count + is_reducing


def _child(tree: Tree, body: FanoutBody, index: int, document: bytes, run_id: RunId, now: Instant) -> NewRun:
    spec = body.jobs[body.child]
    return NewRun(
        id=run_id,
        job_id=body.child,
        due_at=now,
        payload=document,
        options=spec.options,
        trigger=ITEM_TRIGGER,
        parent_id=tree.run_id,
        root_id=tree.root_id,
        child_key=item_key(index),
        definition_id=tree_definition_id(tree.run_id, body.child),
        exempt=tree.held,
        shares=_shares(tree, body),
        is_gated=spec.gate is not None,
        scheduled_for=tree.planned,
    )


def _shares(tree: Tree, body: FanoutBody) -> tuple[Limit, ...]:
    return (shared_limit(tree.run_id, body.fields.concurrency),)


def _reducer(tree: Tree, body: FanoutBody, progress: Progress, now: Instant, ids: IdSource) -> list[NewRun]:
    """Return the run of the reducer if it is due, and record that it was decided."""
    fields = body.fields
    status = status_of(progress.counts, body.items, fields.tolerance)
    if fields.reducer is None or not is_reducer_due(fields.reducer.run_on, status, progress.counts, body.items):
        progress.reducer = ReducerState.NOT_DUE
        return []
    progress.reducer = ReducerState.RUNNING
    summary = {"parent_run_id": tree.run_id, "status": status, "items": body.items, **_numbers(progress)}
    overrides: dict[str, Any] = {"variables": _variables(summary)}
    if tree.deadline is not None:
        # The reducer has what is left of the time of the whole fanout.
        left = max(tree.deadline - now, 1)
        overrides["timeout"] = left if fields.reducer.timeout is None else min(left, fields.reducer.timeout)
    run = NewRun(
        id=RunId(ids.make(now)),
        job_id=body.reducer,
        due_at=now,
        payload=msgspec.json.encode(summary),
        options=body.jobs[body.reducer].options,
        overrides=msgspec.json.encode(overrides),
        trigger=REDUCER_TRIGGER,
        parent_id=tree.run_id,
        root_id=tree.root_id,
        child_key=REDUCER_KEY,
        definition_id=tree_definition_id(tree.run_id, body.reducer),
        exempt=tree.held,
        scheduled_for=tree.planned,
    )
    return [run]


def _numbers(progress: Progress) -> dict[str, int]:
    counts = progress.counts
    return {name: getattr(counts, name) for name in counts.__struct_fields__}


def _variables(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return the counts as environment variables of the reducer."""
    return {f"FOLIOT_FANOUT_{name.upper()}": str(value) for name, value in summary.items() if name != "parent_run_id"}


# -- the end


def _end_early(
    tree: Tree, progress: Progress, loaded: Loaded, now: Instant, reduced: Note | None
) -> Settlement | Wanted:
    """Cancel what is open, once. Items that have not started never start."""
    body: FanoutBody = tree.body
    keys = [item_key(index) for index in progress.open_items()]
    keys += [REDUCER_KEY] if progress.reducer is ReducerState.RUNNING else []
    cancels: Sequence[RunId] = ()
    if not tree.is_ending:
        missing = frozenset(keys) - loaded.children.keys()
        if missing:
            return Wanted(run_id=tree.run_id, children=missing)
        # A running reducer has the same deadline as the fanout: its own timeout ends it.
        is_timeout = tree.cancel_at is None
        cancels = tuple(
            loaded.children[key].run_id
            for key in keys
            if not (key == REDUCER_KEY and is_timeout and loaded.children[key].has_started)
        )
        progress.counts.cancelled += body.items - progress.next
        progress.next = body.items
    after = tree._replace(open=len(keys), progress=progress.encode(), is_ending=True)
    ended = None if keys else _ended_early(tree, body, progress, reduced)
    return Settlement(after, (), cancels=cancels, ended=ended)


def _ended_early(tree: Tree, body: FanoutBody, progress: Progress, reduced: Note | None) -> Ended:
    summary = summary_of(body.items, progress)
    if tree.cancel_at is not None:
        return Ended(Status.CANCELLED, Reason.CANCELLED, output=summary)
    if reduced is not None and reduced.status is Status.SUCCESS:
        return _ended(body, progress, reduced)
    return Ended(Status.TIMEOUT, Reason.TIMEOUT, "the fanout took longer than its timeout", output=summary)


def _ended(body: FanoutBody, progress: Progress, reduced: Note | None) -> Ended:
    """Return how a fanout ends whose children and reducer have ended."""
    summary = summary_of(body.items, progress)
    if reduced is not None and reduced.status is not Status.SUCCESS:
        error = f"the reducer ended as {reduced.status}"
        return Ended(Status.FAILED, Reason.REDUCER_FAILED, error, reduced.exit_code, output=summary)
    status = status_of(progress.counts, body.items, body.fields.tolerance)
    if status is not Status.FAILED:
        return Ended(status, output=summary)
    unsuccessful = progress.counts.unsuccessful
    error = f"{unsuccessful} of {body.items} items did not succeed"
    return Ended(status, Reason.ITEMS_FAILED, error, output=summary)


def _duration(note: Note) -> Millis:
    return Millis(max(note.duration or 0, 0))
