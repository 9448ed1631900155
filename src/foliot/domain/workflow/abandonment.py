"""How a tree ends that cannot be settled, because something of it cannot be read.

It waits until that is repaired. If it is to end before, because it was cancelled or its time is up, it ends without its
definition: what runs is cancelled, what has not begun is skipped, also a final step.
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
    """What is saved now. The tree has ended once nothing of it runs. `steps` are all that it has."""
    ended = {note.child_key: note.status for note in notes if note.status is not None}
    pending = [step._replace(status=ended.get(step.name, step.status)) for step in steps if step.state.result is None]
    under_way = [step for step in pending if _is_under_way(step)]
    reason = "timeout" if tree.cancel_at is None else "cancelled"
    return Settlement(
        tree._replace(is_ending=True, open=len(under_way)),
        note_ids(notes),
        steps={step.name: _resolved(step, reason) for step in pending if not _is_under_way(step)},
        cancels=tuple(step.state.run_id for step in under_way if step.state.run_id is not None),
        ended=None if under_way else _ending(tree),
    )


def _is_under_way(step: StepRecord) -> bool:
    return step.status is not None and not step.status.is_terminal


def _resolved(step: StepRecord, reason: str) -> StepState:
    """A step whose run has ended resolves to that; one without a run is skipped."""
    if step.status is None:
        return step.state._replace(result=Result.SKIPPED, reason=reason)
    return step.state._replace(result=result_of(step.status), reason="")


def _ending(tree: Tree) -> Ended:
    if tree.cancel_at is not None:
        return Ended(Status.CANCELLED, Reason.CANCELLED)
    return Ended(Status.TIMEOUT, Reason.TIMEOUT, "the execution took longer than its timeout")
