"""The end of a tree that cannot be settled because a part of it cannot be read.

Such a tree waits until it is repaired. If it is cancelled or exceeds its timeout before that, it ends without its
definition: running children are cancelled, and steps that have not begun, including a final step, are skipped.
"""

from collections.abc import Mapping, Sequence

from foliot.domain.chain.class_state import read_class
from foliot.domain.chain.spec import CHAIN
from foliot.domain.chain.state import ChainOutcome
from foliot.domain.ids import RunId
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Ended, Status
from foliot.domain.tree.settlement import Settlement, note_ids
from foliot.domain.tree.tree import Note, Tree
from foliot.domain.workflow.conditions import Result, result_of
from foliot.domain.workflow.execution import StepRecord
from foliot.domain.workflow.progress import StepState


def abandon(
    tree: Tree, notes: Sequence[Note], children: Sequence[RunId], steps: Sequence[StepRecord] = ()
) -> Settlement:
    """Return the settlement that ends the tree, or, while children are running, cancels them.

    `children` are the runs of all children that have not ended; `steps` are all its steps, read after these.
    """
    ended = {note.run_id: note.status for note in notes if note.child_key is not None and note.status is not None}
    running = [run_id for run_id in children if run_id not in ended]
    over = [step for step in steps if step.state.result is None and step.state.run_id not in running]
    reason = "timeout" if tree.cancel_at is None else "cancelled"
    return Settlement(
        tree._replace(is_ending=True, open=len(running)),
        note_ids(notes),
        steps={step.name: _resolved(step, ended, reason) for step in over},
        cancels=tuple(running),
        ended=None if running else _ending(tree),
    )


def _resolved(step: StepRecord, ended: Mapping[RunId, Status], reason: str) -> StepState:
    """Return the state of a step that is not running: the result of its run, or skipped if it has none."""
    run_id = step.state.run_id
    status = step.status if run_id is None else ended.get(run_id, step.status)
    if status is None:
        return step.state._replace(result=Result.SKIPPED, reason=reason)
    return step.state._replace(result=result_of(status), reason="")


def _ending(tree: Tree) -> Ended:
    if tree.cancel_at is not None:
        return Ended(Status.CANCELLED, Reason.CANCELLED)
    return Ended(Status.TIMEOUT, Reason.TIMEOUT, "the run took longer than its timeout")


def is_abandoned_chain(settlement: Settlement) -> bool:
    """Whether a settlement ends a chain that its own rules could not end: it was made by `abandon`.

    Such a settlement does not change the state of the class, so the storage must remove the chain from it.
    """
    return settlement.tree.kind == CHAIN and settlement.ended is not None and settlement.effects is None


def abandoned_outcome(ended: Ended) -> ChainOutcome:
    """Return the outcome of a chain that such a settlement ends."""
    return ChainOutcome.STOPPED if ended.status is Status.CANCELLED else ChainOutcome.EXPIRED


def without_chain(document: bytes, run_id: RunId) -> bytes:
    """Return the state of a class without one of its active chains."""
    state = read_class(document)
    state.active = [one for one in state.active if one.run_id != run_id]
    return state.encode()
