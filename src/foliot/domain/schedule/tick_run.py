"""Makes the run that is created with a tick.

`make_run` makes a run of the job or the workflow that the schedule names. `make_launch_run` is used if the application
starts workflows itself (`ports.launcher`): the tick gets a run of the built-in job `foliot.launch`, whose runner calls
the application's launcher with the idempotency key of the tick and retries on failure. If the launcher returns an id,
that run stays in flight until the executor reports its end (`domain.run.report`).
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
from foliot.domain.schedule.firing import TickStart

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


def make_run(start: TickStart) -> NewRun | None:
    """Return a run of the job or workflow that the schedule names, with the schedule's payload or else the job's
    template. None: the job does not exist."""
    job = start.job
    if job is None:
        return None
    if job.leads:
        return NewRun(
            id=start.run_id,
            job_id=JobId(job.leads),
            due_at=start.now,
            options=Options(queue=TREES_QUEUE),
            trigger=SCHEDULE_TRIGGER,
            tick=start.tick,
        )
    payload = start.spec.payload if start.spec.payload is not None else job.spec.payload_template
    return NewRun(
        id=start.run_id,
        job_id=job.id,
        due_at=start.now,
        payload=encode_payload(payload),
        options=overlay(job.spec.options, start.spec.options) if start.spec.options else job.spec.options,
        overrides=_overrides(start),
        trigger=SCHEDULE_TRIGGER,
        tick=start.tick,
        is_gated=job.spec.gate is not None,
    )


def _overrides(start: TickStart) -> bytes | None:
    """Return what the schedule gives to this run alone, as JSON: options, and how an execution begins."""
    given = dict(start.spec.options)
    version, user_id = start.spec.version, start.spec.user_id
    if version is not None or user_id is not None:
        given["start"] = {"version": _version(start), "user_id": user_id}
    return msgspec.json.encode(given) if given else None


def _version(start: TickStart) -> int | None:
    """Return the version that the schedule names, else the current version of the workflow. None: a plain job."""
    if start.spec.version is not None or start.job is None:
        return start.spec.version
    return start.job.spec.spec.get("version")


def make_launch_run(start: TickStart, *, timeout: Millis = LAUNCH_TIMEOUT) -> NewRun | None:
    """Return a run of the job, or, for a workflow, a run that calls the application's launcher. It has the timeout of
    the workflow, if that is deployed here and has one, else the given timeout."""
    if start.spec.workflow_id is None:
        return make_run(start)
    own = None if start.job is None else start.job.spec.options.timeout
    given = {"timeout": timeout if own is None else own}
    return NewRun(
        id=start.run_id,
        job_id=LAUNCH_JOB,
        due_at=start.now,
        payload=encode_payload(launch_arguments(start)),
        options=overlay(LAUNCH_SPEC.options, given),
        overrides=msgspec.json.encode(given),
        trigger=SCHEDULE_TRIGGER,
        tick=start.tick,
    )


def launch_arguments(start: TickStart) -> dict[str, Any]:
    """Return the arguments of the application's launcher."""
    return {
        "workflow_id": start.spec.workflow_id,
        "version": _version(start),
        "user_id": start.spec.user_id,
        "scheduled_for": to_iso(start.tick.scheduled_for),
        "idempotency_key": start.tick.key,
    }
