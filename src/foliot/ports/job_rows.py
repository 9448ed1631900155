"""What the queries port returns about jobs in lists: each with its newest ticks and results."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import Job
from foliot.domain.job.state import JobState
from foliot.domain.run.results import RunResult, RunState
from foliot.domain.run.run import Run
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Schedule
from foliot.errors import RowUnreadable
from foliot.ports.ticks import ListedTick


class JobRowFilter(NamedTuple):
    """Which jobs to list, by id. None means any. Steps of workflows and the jobs of Foliot are left out."""

    search: str | None = None
    """A part of the id, the name or a tag, in any case."""
    tag: str | None = None
    kind: str | None = None
    """As it is stored."""
    state: JobState | None = None
    after: JobId | None = None
    limit: int = 50


class JobFacets(NamedTuple):
    """How many jobs a list has, by what it is filtered by. A job can be in several states, and have several tags."""

    total: int
    states: Mapping[JobState, int]
    kinds: Mapping[str, int]
    """As they are stored."""
    tags: Mapping[str, int]
    is_complete: bool
    """False: only the first 10,000 jobs were counted."""


class JobRowDetails(NamedTuple):
    job: Job | RowUnreadable
    schedules: Sequence[Schedule]
    latest: RunId | None
    """Its newest run."""
    failing: RunId | None
    """Its newest failed run, if no run has succeeded since. Only the first 1,000 runs since are looked at."""
    ticks: Sequence[ListedTick]
    """The newest ticks of its schedules, newest first: enough rows for the limit of planned times."""
    results: Sequence[RunResult]
    """Its newest runs, newest first."""


class JobRows(NamedTuple):
    rows: Sequence[JobRowDetails]
    runs: Mapping[RunId, Run]
    """The newest runs of the jobs, without payloads, outputs and long errors."""
    states: Mapping[RunId, RunState]
    """Those of the runs of the ticks."""
    project_pause: ProjectPause | None
    """The project pause that was changed last, in force or not."""
    next: JobId | None = None
    """To continue, give this as `after`. A page may end early: a search looks at a limited number of jobs. None: there
    are no more."""
