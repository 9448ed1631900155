"""What a run is: of a job alone, an execution of a workflow, or a step of one."""

from enum import StrEnum

from foliot.domain.run.run import Run
from foliot.domain.tree.tree import TREES_QUEUE


class RunKind(StrEnum):
    JOB = "job"
    EXECUTION = "execution"
    STEP = "step"


def kind_of(run: Run) -> RunKind:
    if run.parent_id is not None:
        return RunKind.STEP
    return RunKind.EXECUTION if run.queue == TREES_QUEUE else RunKind.JOB
