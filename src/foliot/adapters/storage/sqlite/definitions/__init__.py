"""Jobs, schedules, workflows and dependencies: stored and read for deploying."""

from foliot.adapters.storage.sqlite.definitions.dependencies import DependencyDefinitions
from foliot.adapters.storage.sqlite.definitions.jobs import JobDefinitions
from foliot.adapters.storage.sqlite.definitions.pauses import PauseDefinitions
from foliot.adapters.storage.sqlite.definitions.schedules import ScheduleDefinitions
from foliot.adapters.storage.sqlite.definitions.workflows import WorkflowDefinitions


class SqliteDefinitions(
    JobDefinitions, ScheduleDefinitions, PauseDefinitions, WorkflowDefinitions, DependencyDefinitions
):
    """Fills `ports.definitions.Definitions`."""
