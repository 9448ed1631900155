"""Opens trees: a claimed run in the queue @trees becomes a tree with its first children."""

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from foliot.domain.ids import IdSource
from foliot.domain.job.definition import Definition
from foliot.domain.run.lease import Claim
from foliot.domain.run.outcome import Failure, Interrupted, Outcome, Reason
from foliot.domain.tree.kind import NOTHING_LOADED, Loaded, Start, TreeKind, Wanted
from foliot.domain.tree.settlement import Opening
from foliot.domain.tree.tree import MAX_DEPTH
from foliot.engine.coordinator.decider import PendingDecision, TreeDecider
from foliot.engine.coordinator.inputs import Inputs
from foliot.engine.coordinator.pruner import ExecutionPruner
from foliot.errors import FoliotError, InvalidRun, StaleClaim, StorageUnavailable, suggest
from foliot.ports.trees import TreeStore

log = logging.getLogger(__name__)

Interruptibly = Callable[[Coroutine[Any, Any, int]], Awaitable[int | Outcome]]
"""Awaits the coroutine and returns its result, or the outcome of the run if the attempt is ended meanwhile."""


async def _uninterrupted(work: Coroutine[Any, Any, int]) -> int:
    return await work


class Starter:
    """Opens claimed runs as trees. Each claim is opened in its own task."""

    def __init__(
        self,
        store: TreeStore,
        ids: IdSource,
        kinds: Mapping[str, TreeKind],
        decider: TreeDecider,
        inputs: Inputs,
        pruner: ExecutionPruner | None = None,
    ) -> None:
        self._store = store
        self._ids = ids
        self._kinds = kinds
        self._decider = decider
        self._inputs = inputs
        self._pruner = pruner

    async def open(
        self, claim: Claim, definition: Definition, interruptibly: Interruptibly = _uninterrupted
    ) -> Outcome | None:
        """Open the claimed run as a tree. Return None if there is no outcome to save, else the outcome of the run,
        such as a failure that says why it could not be opened. Inputs are read with `interruptibly`, because that may
        take long."""
        try:
            return await self._open(claim, definition, interruptibly)
        except StorageUnavailable as error:
            # The next renewal does not list this lease, so the storage takes the run back and it is opened again.
            about = {"run": claim.run_id, "job": claim.job_id}
            log.warning("tree_open_failed", extra={**about, "problem": error.message})
            return None

    async def _open(self, claim: Claim, definition: Definition, interruptibly: Interruptibly) -> Outcome | None:
        if definition.error is not None:
            return Failure(definition.error, definition.reason, retryable=False)
        kind = self._kinds.get(definition.kind)
        if kind is None:
            hint = suggest(definition.kind, self._kinds, otherwise=f"This one opens: {', '.join(sorted(self._kinds))}.")
            error = f'this coordinator opens no jobs of kind "{definition.kind}". {hint}'
            return Failure(error, Reason.HANDLER_MISSING, retryable=False)
        items = await self._prepare(claim, definition, kind, interruptibly)
        if not isinstance(items, int):
            return items
        opening = await self._decide(claim, definition, kind, items)
        if isinstance(opening, Failure):
            return opening
        if await self._store.open([opening]):
            # The job was changed meanwhile: the run is given back and opened again. If the lease was lost instead,
            # this outcome is discarded.
            return Interrupted()
        if opening.ended is None:
            self._decider.cache_body(opening.tree)
        if opening.ended is not None and claim.parent_id is None and self._pruner is not None:
            await self._pruner.executions_ended({claim.job_id})
        return None

    async def _prepare(
        self, claim: Claim, definition: Definition, kind: TreeKind, interruptibly: Interruptibly
    ) -> int | Outcome:
        """Store the items of the tree, if it has any, and return their number. If that fails, return the outcome."""
        try:
            source = kind.source(definition)
            return 0 if source is None else await interruptibly(self._inputs.prepare(claim, source))
        except StaleClaim:
            return Interrupted()  # discarded, because the claim is stale
        except StorageUnavailable:
            raise
        except FoliotError as error:
            return Failure(str(error), Reason.INPUTS, retryable=False)
        except Exception as error:
            # A defect of a resolver fails this run. Otherwise the run would stay claimed without a tree.
            log.exception("inputs_failed", extra={"run": claim.run_id, "job": claim.job_id})
            return Failure(f"{type(error).__name__}: {error}", Reason.INPUTS, retryable=False)

    async def _decide(self, claim: Claim, definition: Definition, kind: TreeKind, items: int) -> Opening | Failure:
        def begin(loaded: Loaded) -> Opening | Wanted:
            if claim.parent_id is not None and loaded.parent is None:
                return Wanted(run_id=claim.run_id, parent=claim.parent_id)
            start = Start(claim, definition, loaded.parent, items)
            _check_depth(start)
            return kind.begin(start, loaded, claim.started_at, self._ids)

        results = await self._decider.decide({claim.run_id: PendingDecision(kind, NOTHING_LOADED, begin)})
        result = results[claim.run_id]
        if isinstance(result, Exception):
            if not isinstance(result, FoliotError):
                log.error("tree_decision_failed", extra={"run": claim.run_id}, exc_info=result)
            return Failure(str(result), Reason.LAUNCH_FAILED, retryable=False)
        return result


def _check_depth(start: Start) -> None:
    if start.ancestry is not None and start.ancestry.depth + 1 > MAX_DEPTH:
        raise InvalidRun(
            f"trees can be nested at most {MAX_DEPTH} deep",
            hint="Start the inner job as a run of its own.",
        )
