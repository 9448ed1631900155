"""Answers what a running step asks of its chain, with the rows that it needs locked.

    asker --> lock_class --> lock_chain --> lock_asker --> `domain.chain.request.answer`

The lease is checked twice: first to find what to lock, then under the locks. Each database executes the queries in the
transaction that saves the answer, and locks in its own way.
"""

import hashlib
from typing import Final, NamedTuple

from foliot.adapters.storage.shared.chain_rows import NO_DOCUMENT, chain_body_of, shared_document_of
from foliot.adapters.storage.shared.documents import decode_job_spec, read_column
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.tree_rows import tree_of
from foliot.domain.chain.class_state import class_key, read_class
from foliot.domain.chain.message import ChainRequest, Spawn
from foliot.domain.chain.request import Answered, Asker, answer, class_of
from foliot.domain.chain.state import read_chain
from foliot.domain.chain.step import STEP_TRIGGER, ChainBody
from foliot.domain.ids import IdSource, JobId, RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import NewRun
from foliot.domain.tree.kind import SharedDocument
from foliot.domain.tree.tree import MAX_DEPTH, Tree

_ENTROPY_BYTES: Final = 10


class Asking(NamedTuple):
    """A request, and the lease that proves who asks."""

    run_id: RunId
    worker_id: WorkerId
    token: Token
    request: ChainRequest

    @property
    def lease(self) -> tuple[Token, RunId, WorkerId]:
        return self.token, self.run_id, self.worker_id


def ask(project: str, asking: Asking, now: Instant) -> Read[Answered | None]:
    """Return the answer with what to save. None: the lease is not current."""
    found = yield Query("asker", (*asking.lease, MAX_DEPTH))
    if not found:
        return None
    job_id, chain_run_id, child_key, is_part, document = found[0]
    body = None if chain_run_id is None else chain_body_of(document, chain_run_id)
    asker = Asker(asking.run_id, job_id, None if body is None else child_key, is_part=bool(is_part))
    shared = yield from _lock_class(project, class_of(asker, body), is_needed=isinstance(asking.request, Spawn))
    tree = yield from _lock_tree(asker, chain_run_id, body, shared)
    if not (yield Query("lock_asker", asking.lease)):
        return None
    begun = yield from _begun(tree)
    job = yield from _job(project, asking.request, tree)
    ids = _ids(asking, tree, shared)
    return answer(asking.request, asker, tree, shared, now, ids, begun=begun | {asking.run_id}, job=job)


def _lock_class(project: str, class_id: str, *, is_needed: bool) -> Read[SharedDocument]:
    key = class_key(class_id)
    rows = yield Query("lock_class", (project, key))
    if not rows and is_needed:
        yield Query("add_class", (project, key))
        rows = yield Query("lock_class", (project, key))
    return shared_document_of(rows[0]) if rows else NO_DOCUMENT


def _lock_tree(asker: Asker, run_id: RunId, body: ChainBody | None, shared: SharedDocument) -> Read[Tree | None]:
    """Return the chain that the run belongs to, or the one that it has started, with its body."""
    if body is not None:
        rows = yield Query("lock_chain", (run_id,))
        return tree_of(rows[0])._replace(body=body) if rows else None
    own = next((one for one in read_class(shared.body).active if one.slot == asker.run_id), None)
    rows = (yield Query("lock_chain", (own.run_id,))) if own is not None else ()
    if own is None or not rows:
        return None
    [(_, document)] = yield Query("definitions_of_trees", ([own.run_id],))
    return tree_of(rows[0])._replace(body=chain_body_of(document, own.run_id))


def _begun(tree: Tree | None) -> Read[frozenset[RunId]]:
    """Return which open steps of the chain have begun."""
    steps = [] if tree is None else [step.run_id for step in read_chain(tree.progress).open_steps]
    rows = (yield Query("begun_steps", (steps,))) if steps else ()
    return frozenset(row[0] for row in rows)


def _job(project: str, request: ChainRequest, tree: Tree | None) -> Read[JobSpec | None]:
    """Return the registered job that a follow-up names. A chain of a class has stages instead."""
    if not isinstance(request, Spawn) or "\0" in request.name or (tree is not None and tree.body.spec.stages):
        return None
    rows = yield Query("get_jobs", (project, [JobId(request.name)]))
    return read_column(decode_job_spec, rows[0][1], "job", request.name) if rows else None


def _ids(asking: Asking, tree: Tree | None, shared: SharedDocument) -> IdSource:
    """Return a source of ids that follow from what was read, so that a simulation can be repeated. Each saved answer
    raises the state or the version, so the ids of two answers differ."""
    seen = f"{asking.run_id}/{asking.token}/{shared.version}/{None if tree is None else tree.state}"
    digest = hashlib.blake2b(seen.encode(), digest_size=_ENTROPY_BYTES).digest()
    return IdSource(lambda: int.from_bytes(digest, "big"))


def chain_run(tree: Tree, now: Instant) -> NewRun:
    """Return the run of a chain that another run has started."""
    options = Options(queue=TREES_QUEUE)
    return NewRun(tree.run_id, tree.job_id, now, options=options, trigger=STEP_TRIGGER)
