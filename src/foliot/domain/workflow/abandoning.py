"""How an execution ends that nobody can lead on, because something of it cannot be read.

It waits until that is mended. Where it is to end before, because somebody cancels it or its time is up, it does so
without its plan: what is under way is cancelled, what has not begun is skipped, also a final step, of which nobody can
say what it would do.
"""

from collections.abc import Sequence

from foliot.domain.outcome import Reason
from foliot.domain.run import Ended, Status
from foliot.domain.workflow.conditions import Result, result_of
from foliot.domain.workflow.execution import Settlement, StepRecord, Unsettled
from foliot.domain.workflow.progress import StepState


def abandon(unsettled: Unsettled, steps: Sequence[StepRecord]) -> Settlement:
    """What is saved of it now; that it has ended, once nothing of it is under way. `steps` are all that it has."""
    execution, notes, _ = unsettled
    ended = {note.step: note.status for note in notes if note.step is not None and note.status is not None}
    pending = [step._replace(status=ended.get(step.name, step.status)) for step in steps if step.state.result is None]
    under_way = [step for step in pending if _is_under_way(step)]
    reason = "timeout" if execution.cancel_at is None else "cancelled"
    return Settlement(
        execution._replace(is_ending=True, unresolved=len(pending)),
        tuple(note.run_id for note in notes),
        {step.name: _resolved(step, reason) for step in pending if not _is_under_way(step)},
        {},
        tuple(step.state.run_id for step in under_way if step.state.run_id is not None),
        None if under_way else _ending(unsettled),
    )


def _is_under_way(step: StepRecord) -> bool:
    return step.status is not None and not step.status.is_terminal


def _resolved(step: StepRecord, reason: str) -> StepState:
    """A step whose run has ended came to what that says; one without a run was kept from it."""
    if step.status is None:
        return step.state._replace(result=Result.SKIPPED, reason=reason)
    return step.state._replace(result=result_of(step.status), reason="")


def _ending(unsettled: Unsettled) -> Ended:
    if unsettled.execution.cancel_at is not None:
        return Ended(Status.CANCELLED, Reason.CANCELLED)
    return Ended(Status.TIMEOUT, Reason.TIMEOUT, "the execution took longer than its timeout")
