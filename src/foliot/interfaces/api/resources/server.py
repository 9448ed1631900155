"""The server itself: probes, status, workers, checks, and this documentation."""

import asyncio
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.responses import Response

import foliot
from foliot.domain.access.role import Permission
from foliot.domain.instant import to_datetime
from foliot.errors import FoliotError
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.docs_page import CONTENT_SECURITY_POLICY, docs_page
from foliot.interfaces.api.errors import ApiError
from foliot.interfaces.api.openapi import openapi_document
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.interfaces.api.route import PUBLIC
from foliot.service.answers import Page, Version
from foliot.service.path import ExplainedPath
from foliot.service.queries.home_view import HomePage
from foliot.service.queries.job_timelines import TimelinePage
from foliot.service.queries.overview import OverviewPage
from foliot.service.queries.status import StatusPage
from foliot.service.queries.verified import Verified
from foliot.service.queries.worker_view import WorkerView

_READY_TIMEOUT: Final = 2.0
_MOST_FINDINGS: Final = 1_000


class Health(msgspec.Struct, frozen=True, kw_only=True):
    status: str


class ExplainQuery(Parameters, frozen=True, kw_only=True):
    run: str | None = None
    """A run: its id, a part of it, `@last`, or `JOB@last`."""
    schedule: str | None = None
    """A schedule, or the only schedule of a job, with `at`."""
    at: datetime | None = None
    """The planned time."""


class TimelineQuery(Parameters, frozen=True, kw_only=True):
    since: datetime | None = None
    """By default 16 hours ago."""
    until: datetime | None = None
    """One minute to 32 days later, by default 24 hours."""


class VerifyQuery(Parameters, frozen=True, kw_only=True):
    since: datetime | None = None
    """By default seven days ago."""


@ROUTES.get("/healthz", permission=PUBLIC, summary="Answer, if the event loop of the server turns.")
async def get_health(call: Call) -> Health:
    return Health(status="ok")


@ROUTES.get(
    "/readyz",
    permission=PUBLIC,
    summary="Return whether the server can work: its database answers, and it is not stopping.",
    errors=(HTTPStatus.SERVICE_UNAVAILABLE,),
)
async def get_readiness(call: Call) -> Health:
    status = "stopping" if call.context.closing.is_set() else "ready"
    try:
        async with asyncio.timeout(_READY_TIMEOUT):
            await call.services.queries.events.newest()
    except (FoliotError, TimeoutError):
        status = "storage unavailable"
    call.status = HTTPStatus.OK if status == "ready" else HTTPStatus.SERVICE_UNAVAILABLE
    return Health(status=status)


@ROUTES.get("/api/version", permission=Permission.READ, summary="Return the version of the server.")
async def get_version(call: Call) -> Version:
    return Version(version=foliot.__version__)


@ROUTES.get(
    "/api/status",
    permission=Permission.READ,
    summary="Return whether Foliot works, and what needs attention.",
)
async def get_status(call: Call) -> StatusPage:
    return await call.services.queries.status.page()


@ROUTES.get(
    "/api/home",
    permission=Permission.READ,
    summary="Return what failed, what runs, what is next, and what is late or missed.",
)
async def get_home(call: Call) -> HomePage:
    return await call.services.queries.home.page(foliot.__version__)


@ROUTES.get(
    "/api/overview",
    permission=Permission.READ,
    summary="Return running, queued and upcoming runs, and recent failures.",
)
async def get_overview(call: Call) -> OverviewPage:
    return await call.services.queries.overview.page()


@ROUTES.get(
    "/api/timeline",
    permission=Permission.READ,
    summary="Return which runs of each job were under way in an interval, and when its schedules fire in it.",
)
async def get_timeline(call: Call, query: TimelineQuery) -> TimelinePage:
    return await call.services.queries.timeline.page(query.since, query.until)


@ROUTES.get("/api/workers", permission=Permission.READ, summary="List the workers.")
async def list_workers(call: Call) -> Page[WorkerView]:
    return Page(items=(await call.services.queries.overview.page()).workers, next=None)


@ROUTES.get(
    "/api/explain",
    permission=Permission.READ,
    summary="Explain a run, or a planned time of a schedule, stage by stage.",
    errors=(HTTPStatus.NOT_FOUND,),
)
async def explain(call: Call, query: ExplainQuery) -> ExplainedPath:
    explained = call.services.queries.explained
    if query.run is not None and query.schedule is None and query.at is None:
        return await explained.run(query.run)
    if query.run is None and query.schedule is not None and query.at is not None:
        return await explained.tick(query.schedule, query.at)
    raise ApiError(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "missing_field",
        "name a run, or a schedule and a time",
        hint="Give run, or schedule and at.",
        field="run",
    )


@ROUTES.get(
    "/api/verify",
    permission=Permission.OPERATE,
    summary="Compare the ledger with the ticks that the schedules should have. At most 1,000 findings are listed.",
)
async def verify_ledger(call: Call, query: VerifyQuery) -> Verified:
    services = call.services
    since = query.since or to_datetime(services.clock.now()) - timedelta(days=7)
    return await services.queries.ledgers.verified(since, most=_MOST_FINDINGS)


@ROUTES.get(
    "/api/doctor",
    permission=Permission.ADMINISTER,
    summary="Check the installation: configuration, database, clocks and machine.",
    errors=(HTTPStatus.NOT_IMPLEMENTED,),
)
async def get_doctor(call: Call) -> dict[str, Any]:
    if call.context.doctor is None:
        raise ApiError(HTTPStatus.NOT_IMPLEMENTED, "not_available", "this process cannot examine the installation")
    return await call.context.doctor()


@ROUTES.get("/api/openapi.json", permission=Permission.READ, summary="Return the description of all routes.")
async def get_openapi(call: Call) -> dict[str, Any]:
    return openapi_document(ROUTES, server_url(call))


@ROUTES.get(
    "/api/docs",
    permission=Permission.READ,
    summary="Return this description as a page.",
    media_type="text/html",
)
async def get_docs(call: Call) -> Response:
    call.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    is_development = await call.context.authenticator.is_development()
    return Response(docs_page(ROUTES, is_development=is_development), media_type="text/html")


def server_url(call: Call) -> str:
    """Return the address of the API for links: the configured one, or the path below the root of the server."""
    return (call.context.public_url.rstrip("/") or call.context.base_path) or "/"
