"""The end of a tree that cannot be settled because a part of it cannot be read.

Such a tree waits until it is repaired. If it is cancelled or exceeds its timeout before that, it ends without its
definition: running steps are cancelled, all others, including a final step, are skipped.
"""

from collections.abc import Sequence

from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.settlement import Settlement, note_ids
from foliot.domain.tree.tree import Note, Tree
from foliot.domain.workflow.conditions import Result, result_of
from foliot.domain.workflow.execution import StepRecord
from foliot.domain.workflow.progress import StepState


def abandon(tree: Tree, notes: Sequence[Note], steps: Sequence[StepRecord]) -> Settlement:
    """Return the settlement that ends the tree, or, while steps are running, cancels them. `steps` are all its
    steps."""
    ended = {note.child_key: note.status for note in notes if note.status is not None}
    pending = [step._replace(status=ended.get(step.name, step.status)) for step in steps if step.state.result is None]
    running = [step for step in pending if _is_running(step)]
    reason = "timeout" if tree.cancel_at is None else "cancelled"
    return Settlement(
        tree._replace(is_ending=True, open=len(running)),
        note_ids(notes),
        steps={step.name: _resolved(step, reason) for step in pending if not _is_running(step)},
        cancels=tuple(step.state.run_id for step in running if step.state.run_id is not None),
        ended=None if running else _ending(tree),
    )


def _is_running(step: StepRecord) -> bool:
    return step.status is not None and not step.status.is_terminal


def _resolved(step: StepRecord, reason: str) -> StepState:
    """Return the state of a step that is not running: the result of its run, or skipped if it has none."""
    if step.status is None:
        return step.state._replace(result=Result.SKIPPED, reason=reason)
    return step.state._replace(result=result_of(step.status), reason="")


def _ending(tree: Tree) -> Ended:
    if tree.cancel_at is not None:
        return Ended(Status.CANCELLED, Reason.CANCELLED)
    return Ended(Status.TIMEOUT, Reason.TIMEOUT, "the execution took longer than its timeout")
