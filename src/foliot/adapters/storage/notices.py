"""What the items of an event say, equal on every database."""

from collections.abc import Iterable
from typing import Any

from foliot.domain.firing import Firing
from foliot.domain.job import Job
from foliot.domain.lease import Claim
from foliot.domain.run import NewRun
from foliot.domain.schedule import Schedule

Items = list[list[Any]]


def created(runs: Iterable[NewRun]) -> Items:
    return [[run.id, run.job_id] for run in runs]


def started(claims: Iterable[Claim]) -> Items:
    return [[claim.run_id, claim.attempt] for claim in claims]


def settled(firings: Iterable[Firing]) -> Items:
    return [
        [firing.uid, tick.scheduled_for, tick.until, tick.outcome, tick.reason, tick.run_id]
        for firing in firings
        for tick in firing.ticks
    ]


def about_jobs(jobs: Iterable[Job]) -> Items:
    return [[job.id, job.revision] for job in jobs]


def about_schedules(schedules: Iterable[Schedule]) -> Items:
    return [[schedule.id, schedule.uid, schedule.version] for schedule in schedules]
