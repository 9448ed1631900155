"""Opens trees: a claimed run in the queue @trees becomes a tree with its first children."""

import logging
from collections.abc import Mapping

from foliot.domain.ids import IdSource
from foliot.domain.job.definition import Definition
from foliot.domain.run.lease import Claim
from foliot.domain.run.outcome import Failure, Interrupted, Outcome, Reason
from foliot.domain.tree.kind import NOTHING_LOADED, Loaded, Start, TreeKind, Wanted
from foliot.domain.tree.settlement import Opening, Progress
from foliot.domain.tree.tree import MAX_DEPTH
from foliot.engine.coordinator.progress import ProgressListener, ignore_progress
from foliot.engine.coordinator.reader import Question, TreeReader
from foliot.errors import FoliotError, InvalidRun, StorageUnavailable, suggest
from foliot.ports.trees import TreeStore

log = logging.getLogger(__name__)


class Starter:
    """Opens claimed runs, each in a task of its own."""

    def __init__(
        self,
        store: TreeStore,
        ids: IdSource,
        kinds: Mapping[str, TreeKind],
        reader: TreeReader,
        listener: ProgressListener = ignore_progress,
    ) -> None:
        self._store = store
        self._ids = ids
        self._kinds = kinds
        self._reader = reader
        self._listener = listener

    async def open(self, claim: Claim, definition: Definition) -> Outcome | None:
        """Open the claimed run as a tree. Returns None when the lease is no longer held; a failure says why there is no
        tree."""
        try:
            return await self._open(claim, definition)
        except StorageUnavailable:
            # The next renewal does not list the lease, so that the run is given back and opened again.
            log.exception("execution_not_opened", extra={"run": claim.run_id, "job": claim.job_id})
            return None

    async def _open(self, claim: Claim, definition: Definition) -> Outcome | None:
        if definition.error is not None:
            return Failure(definition.error, definition.reason, retryable=False)
        kind = self._kinds.get(definition.kind)
        if kind is None:
            hint = suggest(definition.kind, self._kinds, otherwise=f"This one opens: {', '.join(sorted(self._kinds))}.")
            error = f'this coordinator opens no jobs of kind "{definition.kind}". {hint}'
            return Failure(error, Reason.HANDLER_MISSING, retryable=False)
        opening = await self._decide(claim, definition, kind)
        if isinstance(opening, Failure):
            return opening
        if await self._store.open([opening]):
            # Its job was changed meanwhile: it is given back, and opened again. If the lease was lost, this changes
            # nothing.
            return Interrupted()
        if opening.ended is None:
            self._reader.remember(opening.tree)
        self._listener(Progress(claim.run_id, claim.job_id, opening.steps, opening.ended is not None))
        return None

    async def _decide(self, claim: Claim, definition: Definition, kind: TreeKind) -> Opening | Failure:
        def ask(loaded: Loaded) -> Opening | Wanted:
            if claim.parent_id is not None and loaded.parent is None:
                return Wanted(run_id=claim.run_id, parent=claim.parent_id)
            start = Start(claim, definition, loaded.parent)
            _check_depth(start)
            return kind.begin(start, loaded, claim.started_at, self._ids)

        answers = await self._reader.answer({claim.run_id: Question(kind, NOTHING_LOADED, ask)})
        answer = answers[claim.run_id]
        if isinstance(answer, Exception):
            if not isinstance(answer, FoliotError):
                log.error("execution_not_decidable", extra={"run": claim.run_id}, exc_info=answer)
            return Failure(str(answer), Reason.LAUNCH_FAILED, retryable=False)
        return answer


def _check_depth(start: Start) -> None:
    if start.ancestry is not None and start.ancestry.depth + 1 > MAX_DEPTH:
        raise InvalidRun(
            f"trees can be nested {MAX_DEPTH} deep, and this one would be deeper",
            hint="Start the inner work on its own.",
        )
