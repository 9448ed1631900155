"""From a tick to the run that is created with it.

The scheduler only keeps time: it hands each tick to a launcher. The launcher here starts the job, or the workflow,
that the schedule names. The other one leaves starting to somebody else's launcher: the tick becomes a run of the
built-in job `foliot.launch`, whose runner calls it with the tick's idempotency key, a few times if need be.
"""

from typing import Any, Final

import msgspec

from foliot.domain.ids import JobId
from foliot.domain.instant import SECOND, Millis, to_iso
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.payload import encode_payload
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import NewRun
from foliot.domain.schedule.firing import Launch
from foliot.domain.tree.tree import TREES_QUEUE

LAUNCH_JOB: Final = JobId("foliot.launch")
LAUNCH_SPEC: Final = JobSpec(
    kind="launch",
    name="Start a workflow through the application's launcher",
    options=Options(retry=Retry(retries=3, base=Millis(SECOND))),
    source="foliot",
)
SCHEDULE_TRIGGER: Final = "schedule"


def launch_job(launch: Launch) -> NewRun | None:
    """Start what the schedule names, with its payload or else the job's template. None when there is no such job."""
    job = launch.job
    if job is None:
        return None
    if job.spec.leads:
        return NewRun(
            id=launch.run_id,
            job_id=JobId(job.spec.leads),
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
        options=job.spec.options,
        overrides=_start(launch),
        trigger=SCHEDULE_TRIGGER,
        tick=launch.tick,
        is_gated=job.spec.gate is not None,
    )


def _start(launch: Launch) -> bytes | None:
    """How its execution begins; None for the newest version, and no user."""
    version, user_id = launch.spec.version, launch.spec.user_id
    if version is None and user_id is None:
        return None
    return msgspec.json.encode({"start": {"version": _version(launch), "user_id": user_id}})


def _version(launch: Launch) -> int | None:
    """The version that the schedule names, else the one that a workflow has now; None for what is no workflow."""
    if launch.spec.version is not None or launch.job is None:
        return launch.spec.version
    return launch.job.spec.spec.get("version")


def launch_elsewhere(launch: Launch) -> NewRun | None:
    """Jobs are started as ever; a workflow becomes a call to the application's launcher."""
    if launch.spec.workflow_id is None:
        return launch_job(launch)
    return NewRun(
        id=launch.run_id,
        job_id=LAUNCH_JOB,
        due_at=launch.now,
        payload=encode_payload(launch_arguments(launch)),
        options=LAUNCH_SPEC.options,
        trigger=SCHEDULE_TRIGGER,
        tick=launch.tick,
    )


def launch_arguments(launch: Launch) -> dict[str, Any]:
    """What a launcher is called with."""
    return {
        "workflow_id": launch.spec.workflow_id,
        "version": _version(launch),
        "user_id": launch.spec.user_id,
        "scheduled_for": to_iso(launch.tick.scheduled_for),
        "idempotency_key": launch.tick.key,
    }
