"""Builds the items of each kind of event, the same for every database."""

from collections.abc import Iterable, Mapping
from typing import Any

from foliot.adapters.storage.shared.finish_plan import FinishPlan
from foliot.domain.alert import Alert
from foliot.domain.deploy.rename import Rename
from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import Job
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.schedule.firing import Firing
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Schedule
from foliot.domain.tree.tree import Tree
from foliot.domain.workflow.progress import StepState
from foliot.ports.definitions import WorkflowVersion

Items = list[list[Any]]


def created(runs: Iterable[NewRun]) -> Items:
    return [[run.id, run.job_id] for run in runs]


def ended(plan: FinishPlan) -> Items:
    """Every ended attempt, also if its run will be retried."""
    over: Items = [[lease.run_id, verdict.status, lease.attempt] for lease, verdict in plan.ended]
    open_again = [lease for lease, _ in plan.again] + plan.given_back
    return over + [[lease.run_id, Status.SCHEDULED, lease.attempt] for lease in open_again]


def cancelled(attempts: Mapping[RunId, int]) -> Items:
    """Runs that were cancelled without a worker, with their number of attempts."""
    return [[run_id, Status.CANCELLED, attempt] for run_id, attempt in attempts.items()]


def marked(attempts: Mapping[RunId, int]) -> Items:
    """Runs that were marked as success by hand, with their number of attempts."""
    return [[run_id, Status.SUCCESS, attempt] for run_id, attempt in attempts.items()]


def ended_by_hand(attempts: Iterable[tuple[RunId, Ended, int]]) -> Items:
    """Runs that ended without a worker, with how they ended and their number of attempts."""
    return [[run_id, ended.status, attempt] for run_id, ended, attempt in attempts]


def cancel_requested(run_ids: Iterable[RunId]) -> Items:
    return [[run_id] for run_id in run_ids]


def settled(firings: Iterable[Firing]) -> Items:
    return [
        [firing.uid, tick.scheduled_for, tick.until, tick.outcome, tick.reason, tick.run_id, tick.count]
        for firing in firings
        for tick in firing.ticks
    ]


def about_pause(pause: ProjectPause) -> Items:
    return [[pause.since, pause.until, pause.by, pause.note]]


def about_jobs(jobs: Iterable[Job]) -> Items:
    return [[job.id, job.revision] for job in jobs]


def deleted_jobs(revisions: Mapping[JobId, int]) -> Items:
    return [[job_id, revision] for job_id, revision in revisions.items()]


def renamed_jobs(renames: Iterable[Rename], revisions: Mapping[JobId, int]) -> Items:
    return [[old, new, revisions[new]] for old, new in renames]


def about_schedules(schedules: Iterable[Schedule]) -> Items:
    return [[schedule.id, schedule.uid, schedule.version] for schedule in schedules]


def about_workflows(versions: Iterable[WorkflowVersion]) -> Items:
    return [[known.workflow_id, known.version] for known in versions]


def deleted_workflows(newest: Mapping[str, int]) -> Items:
    return [[workflow_id, version] for workflow_id, version in newest.items()]


def opened(trees: Iterable[Tree]) -> Items:
    return [[tree.run_id, tree.job_id, tree.version] for tree in trees]


def changed_steps(run_id: RunId, runs: Iterable[NewRun], steps: Mapping[str, StepState]) -> Items:
    """Steps whose run is created now, and steps that have resolved."""
    started: Items = [[run_id, run.child_key, None] for run in runs if run.child_key in steps]
    return started + [[run_id, name, state.result] for name, state in steps.items() if state.result is not None]


def over(trees: Iterable[tuple[Tree, Ended]]) -> Items:
    return [[tree.run_id, tree.job_id, ended.status] for tree, ended in trees]


def alerts(raised: Iterable[Alert]) -> Items:
    return [alert.item for alert in raised]
