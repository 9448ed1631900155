"""Definitions for deployment tests, and helpers to read the changes of a deployment."""

from collections.abc import Iterable, Mapping
from typing import Any

from foliot.domain.deploy.deployment import Changes
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec, anchored
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.testing import builders
from foliot.testing.clock import START

A, B, C = JobId("a"), JobId("b"), JobId("c")


def job(command: str = "true", **fields: Any) -> JobSpec:
    return JobSpec(kind="shell", spec={"command": command}, **{"source": "file", **fields})


def every(seconds: int, job_id: JobId | None = A, **fields: Any) -> ScheduleSpec:
    return builders.every(seconds, **{"job_id": job_id, "source": "file", **fields})


def stored(spec: ScheduleSpec) -> ScheduleSpec:
    return anchored(spec, START)


def actions(changes: Changes) -> Mapping[str, str]:
    jobs: dict[str, str] = {change.id: change.action.value for change in changes.jobs}
    return jobs | {change.id: change.action.value for change in changes.schedules}


def flow(*steps: Step, **fields: Any) -> WorkflowSpec:
    return WorkflowSpec(steps=steps or (work("a"),), **{"source": "file", **fields})


def work(name: str, command: str = "true", after: Iterable[str] = (), **spec: Any) -> Step:
    definition = JobSpec(kind="shell", spec={"command": command, **spec}, source="file")
    return Step(name=name, definition=definition, after=tuple(Edge(parent=parent) for parent in after))


def changes_nothing(changes: Changes) -> bool:
    puts = changes.jobs_to_put or changes.workflows_to_put or changes.schedules_to_put
    return not (changes.renames or puts or changes.schedules_to_delete)
