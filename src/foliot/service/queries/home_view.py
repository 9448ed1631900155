"""Views of the home page: what failed, what runs, what is next, what was missed."""

from datetime import datetime

import msgspec

from foliot.service.explanation import RunExplanation
from foliot.service.queries.account_view import AccountView
from foliot.service.queries.brief_view import RunBrief
from foliot.service.queries.chain_view import ClassView
from foliot.service.queries.fires import NextFire, NextHour
from foliot.service.queries.history import UsualView
from foliot.service.queries.job_row_view import JobRow
from foliot.service.queries.status import StatusPage


class JobCounts(msgspec.Struct, frozen=True, kw_only=True):
    total: int
    inactive: int
    """The disabled and paused ones among them."""


class BrokenJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job whose newest result is a failure."""

    job: JobRow
    run: RunBrief | None
    """The newest failed run."""
    since: datetime | None
    """The end of the first failure after the last success."""
    failures: int
    """Failures since the last success."""
    is_counted: bool
    """False: there may be more, because only the newest 200 runs are read."""


class RunningRun(msgspec.Struct, frozen=True, kw_only=True):
    run: RunBrief
    usual: UsualView | None
    """How long the newest successes of its job took, at most 100 of them. Null for a chain: most runs of its class
    open none."""


class WaitingRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that has been queued for more than a minute."""

    run: RunBrief
    waited: float
    """Seconds since it was due."""
    why: RunExplanation


class MissedSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule with planned times that were missed."""

    schedule_id: str
    job_id: str
    job: JobRow | None
    """Its job or workflow. None: it does not exist, or an application starts the workflow."""
    count: int
    since: datetime
    """The first of them."""
    until: datetime
    """The last of them."""
    reasons: list[str]


class HomePage(msgspec.Struct, frozen=True, kw_only=True):
    """What needs attention, what runs and what is next. Lists of jobs and runs have at most 20 items."""

    at: datetime
    version: str
    status: StatusPage
    jobs: JobCounts
    account: AccountView
    """The last 24 hours."""
    broken: list[BrokenJob]
    """Those with the newest failures first."""
    broken_count: int
    breakers: list[ClassView]
    """The classes of chains whose breakers are not closed."""
    running: list[RunningRun]
    """Runs that are no children, the newest first. The number of all is in the depth of the status."""
    waiting: list[WaitingRun]
    """The one that has waited longest first, of the newest ones."""
    missed: list[MissedSchedule]
    """Schedules with missed times within the last 24 hours, those with the most first."""
    missed_count: int
    """The number of all such schedules."""
    next: list[NextFire]
    """The next 20 fire times of all schedules."""
    next_hour: NextHour
    ended: list[RunBrief]
    """Runs that are no children, the latest end first, at most ten."""
