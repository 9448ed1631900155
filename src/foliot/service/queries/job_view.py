"""The view of a job."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from foliot.domain.ids import JobId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.job.job import DEFAULT_PROJECT, Job, JobSpec
from foliot.domain.notification.rule import Notify
from foliot.domain.run.run import Run
from foliot.domain.secrets import public_document, public_spec
from foliot.domain.vocabulary.kind import GATE_KIND
from foliot.domain.workflow.spec import GRAPH
from foliot.errors import RowUnreadable
from foliot.service.queries.documents import moment
from foliot.service.queries.run_view import RunView, view_run

WORKFLOW: Final = "workflow"
_KINDS: Final[Mapping[str, str]] = {GRAPH: WORKFLOW, GATE_KIND: "gate"}
"""Stored kind -> its name for people and programs. A kind that is not listed has the same name."""


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job with its latest run. `spec` and `options` contain the values that differ from the defaults.

    Possible secrets are replaced by ***, see `domain.secrets`.
    """

    id: str
    kind: str
    """`workflow` and `gate`, or a kind of work: shell, http, python and so on."""
    name: str
    description: str
    enabled: bool
    paused: bool
    """Whether the job itself is paused: executions skip the steps that name it."""
    stopped_at: datetime | None
    """When its schedules were paused after `pause_after_failures` failed runs in a row. None: they were not, or one of
    them was resumed."""
    pause_after_failures: int | None
    notify: Mapping[str, Any]
    """The options about notifications that it has. URLs are shown as ***."""
    source: str
    category: str
    owner: str
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    spec: Mapping[str, Any]
    payload_template: Any
    options: Mapping[str, Any]
    revision: int
    created_at: datetime
    updated_at: datetime
    latest_run: RunView | None = None
    paused_by: str | None = None
    """Who paused the job itself. None: it is not paused, or the audit trail does not go back so far."""


def kind_name(kind: str) -> str:
    """Return the name of a stored kind."""
    return _KINDS.get(kind, kind)


def view_job(job: Job, latest: Run | None = None) -> JobView:
    spec, shown = job.spec, job.spec.as_written
    return JobView(
        id=job.id,
        kind=kind_name(spec.kind),
        name=spec.name,
        description=spec.description,
        enabled=spec.enabled,
        paused=job.paused_at is not None,
        stopped_at=moment(job.stopped_at),
        pause_after_failures=spec.pause_after_failures,
        notify=_view_notify(spec.notify),
        source=spec.source,
        category=spec.category,
        owner=spec.owner,
        tags=spec.tags,
        labels=spec.options.labels,
        spec=public_spec(shown.spec),
        payload_template=public_document(shown.payload_template),
        options=msgspec.to_builtins(spec.options),
        revision=job.revision,
        created_at=to_datetime(job.created_at),
        updated_at=to_datetime(job.updated_at),
        latest_run=None if latest is None else view_run(latest),
    )


def _view_notify(notify: Notify) -> dict[str, Any]:
    return public_spec(msgspec.to_builtins(notify))


def view_unreadable_job(error: RowUnreadable) -> JobView:
    """Build the view of a job of which only the id can be read."""
    spec = JobSpec(kind="unreadable", description=error.message, enabled=False, source="")
    return view_job(
        Job(
            id=JobId(error.name),
            project=DEFAULT_PROJECT,
            spec=spec,
            revision=0,
            created_at=Instant(0),
            updated_at=Instant(0),
        )
    )
