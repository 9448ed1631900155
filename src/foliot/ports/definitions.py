"""What is given to a storage to keep besides jobs."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import ScheduleId, ScheduleUid
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.workflow.spec import WorkflowSpec


class NewSchedule(NamedTuple):
    """A schedule to be created, or edited when one of that id exists; `uid` is used only when it is created."""

    uid: ScheduleUid
    id: ScheduleId
    spec: ScheduleSpec


class Deployment(NamedTuple):
    """Workflows with what stands and falls with them."""

    workflows: Mapping[str, WorkflowSpec]
    schedules: Sequence[NewSchedule] = ()
    gone: Collection[ScheduleId] = ()
    """Schedules to be deleted."""
