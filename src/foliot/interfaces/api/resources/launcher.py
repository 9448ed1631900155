"""The launcher of another scheduler, and the reports of an executor."""

from datetime import datetime
from http import HTTPStatus

import msgspec

from foliot.domain.access.role import Permission
from foliot.domain.run.run import Status
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.commands.launcher import ServiceLauncher


class LaunchBody(Parameters, frozen=True, kw_only=True):
    workflow_id: str
    """A workflow, or a job."""
    scheduled_for: datetime
    idempotency_key: str
    """A second call with the same key starts nothing."""
    version: int | None = None
    user_id: str | None = None


class Launched(msgspec.Struct, frozen=True, kw_only=True):
    started: bool
    """False: there is no such workflow, version or job."""


class ReportBody(Parameters, frozen=True, kw_only=True):
    idempotency_key: str
    """The key that the launcher got."""
    status: str
    """`started`, `success` or `failed`."""
    run_id: str | None = None
    """The id of the run in the executor."""
    error: str | None = None


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    status: Status
    """The status of the run after the report."""
    is_changed: bool
    """False: the report was a repetition, or the run had ended."""


@ROUTES.post(
    "/api/run-launcher/start",
    permission=Permission.OPERATE,
    summary="Start a workflow or a job for a tick of another scheduler.",
    examples=(
        {"workflow_id": "etl", "scheduled_for": "2026-01-01T03:00:00Z", "idempotency_key": "nightly:2026-01-01"},
    ),
)
async def launch(call: Call, body: LaunchBody) -> Launched:
    launcher = ServiceLauncher(call.services.runs, call.services.workflows)
    started = await launcher.start(
        body.workflow_id, body.version, body.user_id, body.scheduled_for, body.idempotency_key
    )
    return Launched(started=started)


@ROUTES.post(
    "/api/run-launcher/report",
    permission=Permission.OPERATE,
    summary="Report the start or the end of a run that the launcher of an application has started.",
    errors=(HTTPStatus.NOT_FOUND,),
    examples=({"idempotency_key": "nightly:2026-01-01", "status": "success"},),
)
async def report_launch(call: Call, body: ReportBody) -> Reported:
    reported = await call.services.launches.report(body.idempotency_key, body.status, body.run_id, error=body.error)
    return Reported(run_id=reported.run_id, status=reported.status, is_changed=reported.is_changed)
