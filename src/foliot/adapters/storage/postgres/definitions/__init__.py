"""Stores and reads jobs, schedules and workflows."""

from foliot.adapters.storage.postgres.database.batcher import Batcher
from foliot.adapters.storage.postgres.database.transaction import Database
from foliot.adapters.storage.postgres.definitions.dependencies import DependencyDefinitions
from foliot.adapters.storage.postgres.definitions.jobs import JobDefinitions
from foliot.adapters.storage.postgres.definitions.pauses import PauseDefinitions
from foliot.adapters.storage.postgres.definitions.schedules import ScheduleDefinitions
from foliot.adapters.storage.postgres.definitions.workflows import WorkflowDefinitions
from foliot.adapters.storage.postgres.rows.admit import Admitter
from foliot.domain.ids import JobId
from foliot.domain.job.job import Job
from foliot.errors import RowUnreadable


class PostgresDefinitions(
    JobDefinitions, ScheduleDefinitions, PauseDefinitions, WorkflowDefinitions, DependencyDefinitions
):
    """Fills `ports.definitions.Definitions`."""

    def __init__(self, database: Database, admitter: Admitter, project: str) -> None:
        self._database = database
        self._admitter = admitter
        self._project = project
        self._getting = Batcher[JobId, Job | RowUnreadable | None](self._get_jobs)
