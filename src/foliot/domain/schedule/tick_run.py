"""Launchers: functions that make the run that is created with a tick.

The scheduler passes each tick to a launcher. `launch_job` starts the job or the workflow that the schedule names.
`launch_elsewhere` is used when the application has its own launcher for workflows: the tick becomes a run of the
built-in job `foliot.launch`, whose runner calls that launcher with the tick's idempotency key and retries on failure.
If the launcher returns an id, that run stays in flight until the executor reports its end (`domain.run.report`).
"""

from typing import Any, Final

import msgspec

from foliot.domain.ids import JobId
from foliot.domain.instant import DAY, SECOND, Millis, to_iso
from foliot.domain.job.job import JobSpec, Options, overlay
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.payload import encode_payload
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import NewRun
from foliot.domain.schedule.firing import Launch

LAUNCH_JOB: Final = JobId("foliot.launch")
LAUNCH_TIMEOUT: Final = Millis(DAY)
"""Without a timeout, one lost report would block a schedule for ever."""
LAUNCH_SPEC: Final = JobSpec(
    kind="launch",
    name="Start a workflow through the application's launcher",
    options=Options(retry=Retry(retries=3, base=Millis(SECOND)), timeout=LAUNCH_TIMEOUT),
    source="foliot",
)
SCHEDULE_TRIGGER: Final = "schedule"


def launch_job(launch: Launch) -> NewRun | None:
    """Return a run of the job or workflow that the schedule names, with the schedule's payload or else the job's
    template. None: the job does not exist."""
    job = launch.job
    if job is None:
        return None
    if job.leads:
        return NewRun(
            id=launch.run_id,
            job_id=JobId(job.leads),
            due_at=launch.now,
            options=Options(queue=TREES_QUEUE),
            trigger=SCHEDULE_TRIGGER,
            tick=launch.tick,
        )
    payload = launch.spec.payload if launch.spec.payload is not None else job.spec.payload_template
    return NewRun(
        id=launch.run_id,
        job_id=job.id,
        due_at=launch.now,
        payload=encode_payload(payload),
        options=overlay(job.spec.options, launch.spec.options) if launch.spec.options else job.spec.options,
        overrides=_overrides(launch),
        trigger=SCHEDULE_TRIGGER,
        tick=launch.tick,
        is_gated=job.spec.gate is not None,
    )


def _overrides(launch: Launch) -> bytes | None:
    """Return what the schedule gives to this run alone, as JSON: options, and how an execution begins."""
    given = dict(launch.spec.options)
    version, user_id = launch.spec.version, launch.spec.user_id
    if version is not None or user_id is not None:
        given["start"] = {"version": _version(launch), "user_id": user_id}
    return msgspec.json.encode(given) if given else None


def _version(launch: Launch) -> int | None:
    """Return the version that the schedule names, else the current version of the workflow. None: a plain job."""
    if launch.spec.version is not None or launch.job is None:
        return launch.spec.version
    return launch.job.spec.spec.get("version")


def launch_elsewhere(launch: Launch, *, timeout: Millis = LAUNCH_TIMEOUT) -> NewRun | None:
    """Return a run of the job, or, for a workflow, a run that calls the application's launcher. It has the timeout of
    the workflow, if that is deployed here and has one, else the given timeout."""
    if launch.spec.workflow_id is None:
        return launch_job(launch)
    own = None if launch.job is None else launch.job.spec.options.timeout
    given = {"timeout": timeout if own is None else own}
    return NewRun(
        id=launch.run_id,
        job_id=LAUNCH_JOB,
        due_at=launch.now,
        payload=encode_payload(launch_arguments(launch)),
        options=overlay(LAUNCH_SPEC.options, given),
        overrides=msgspec.json.encode(given),
        trigger=SCHEDULE_TRIGGER,
        tick=launch.tick,
    )


def launch_arguments(launch: Launch) -> dict[str, Any]:
    """Return the arguments of the application's launcher."""
    return {
        "workflow_id": launch.spec.workflow_id,
        "version": _version(launch),
        "user_id": launch.spec.user_id,
        "scheduled_for": to_iso(launch.tick.scheduled_for),
        "idempotency_key": launch.tick.key,
    }
