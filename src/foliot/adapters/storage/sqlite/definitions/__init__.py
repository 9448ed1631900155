"""Stores and reads jobs, schedules and workflows."""

from foliot.adapters.storage.sqlite.definitions.jobs import JobDefinitions
from foliot.adapters.storage.sqlite.definitions.schedules import ScheduleDefinitions
from foliot.adapters.storage.sqlite.definitions.workflows import WorkflowDefinitions


class SqliteDefinitions(JobDefinitions, ScheduleDefinitions, WorkflowDefinitions):
    """Fills `ports.definitions.Definitions`."""
