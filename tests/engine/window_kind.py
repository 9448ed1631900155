"""A kind of tree for tests: runs one job many times as its children, at most `window` of them concurrently."""

from typing import Any

from msgspec import Struct, convert, json

from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.job.definition import Definition, tree_definition_id
from foliot.domain.job.job import JobSpec
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.kind import Loaded, Start, Wanted
from foliot.domain.tree.settlement import Opening, Settlement, note_ids
from foliot.domain.tree.tree import Notes, Tree


class Body(Struct, frozen=True, kw_only=True):
    children: int
    window: int
    job: JobId
    jobs: dict[JobId, JobSpec] = {}


class Counts(Struct):
    started: int = 0
    succeeded: int = 0
    failed: int = 0
    running: dict[str, RunId] = {}


class WindowKind:
    name = "window"

    def read_body(self, body: bytes) -> Body:
        return json.decode(body, type=Body)

    def compile(self, definition: Any) -> Any:
        raise NotImplementedError("its trees have no versions")

    def source(self, definition: Definition) -> None:
        return None

    def begin(self, start: Start, loaded: Loaded, now: Instant, ids: IdSource) -> Opening | Wanted:
        job = JobId(start.definition.spec["job"])
        if job not in loaded.jobs:
            return Wanted(run_id=start.claim.run_id, jobs=frozenset({job}))
        body = convert({**start.definition.spec, "jobs": loaded.jobs}, Body)
        tree, runs = _refill(start.tree(version=0, open=body.children, body=body), Counts(), now, ids)
        return Opening(start.claim, tree, json.encode(body), runs)

    def decide(self, tree: Tree, notes: Notes, loaded: Loaded, now: Instant, ids: IdSource) -> Settlement | Wanted:
        counts = json.decode(tree.progress or b"{}", type=Counts)
        for note in notes.ended:
            if counts.running.pop(note.child_key or "", None) is not None:
                counts.succeeded += note.status is Status.SUCCESS
                counts.failed += note.status is not Status.SUCCESS
        cancels = tuple(counts.running.values()) if tree.is_to_end(now) and not tree.is_ending else ()
        after, runs = _refill(tree._replace(is_ending=tree.is_to_end(now)), counts, now, ids)
        return Settlement(after, note_ids(notes.items), runs, cancels=cancels, ended=_ended(after, counts))


def _refill(tree: Tree, counts: Counts, now: Instant, ids: IdSource) -> tuple[Tree, list[NewRun]]:
    """Start children up to the window, unless the tree is ending."""
    body: Body = tree.body
    room = 0 if tree.is_ending else min(body.window - len(counts.running), body.children - counts.started)
    keys = [str(nth) for nth in range(counts.started, counts.started + room)]
    counts.started += room
    runs = [_child(tree, body, key, now, ids) for key in keys]
    counts.running.update({run.child_key or "": run.id for run in runs})
    left = 0 if tree.is_ending else body.children - counts.started
    return tree._replace(open=left + len(counts.running), progress=json.encode(counts)), runs


def _child(tree: Tree, body: Body, key: str, now: Instant, ids: IdSource) -> NewRun:
    return NewRun(
        id=RunId(ids.make(now)),
        job_id=body.job,
        due_at=now,
        options=body.jobs[body.job].options,
        definition_id=tree_definition_id(tree.run_id, body.job),
        parent_id=tree.run_id,
        root_id=tree.root_id,
        child_key=key,
        exempt=tree.held,
    )


def _ended(tree: Tree, counts: Counts) -> Ended | None:
    if tree.open:
        return None
    if tree.is_ending:
        return Ended(Status.CANCELLED, Reason.CANCELLED)
    return Ended(Status.FAILED, Reason.STEP_FAILED) if counts.failed else Ended(Status.SUCCESS)
