"""Finding what a person names: by an id, by a part of it, or as the newest."""

from http import HTTPStatus
from typing import Final

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import FoundExecution, Named
from foliot.service.queries.jobs import JobPage
from foliot.service.queries.run_view import RunView
from foliot.service.queries.schedules import SchedulePage

_NOT_FOUND: Final = (HTTPStatus.NOT_FOUND,)


class NameQuery(Parameters, frozen=True, kw_only=True):
    name: str
    """A run: its id, six or more characters of its beginning or end, `@last`, or `JOB@last`."""


@ROUTES.get(
    "/api/find",
    permission=Permission.READ,
    summary="Return the job with a name, else the schedule, else the run, with everything about it.",
    errors=_NOT_FOUND,
)
async def find_named(call: Call, query: NameQuery) -> Named:
    match await call.services.queries.named(query.name):
        case JobPage() as page:
            return Named(job=page)
        case SchedulePage() as page:
            return Named(schedule=page)
        case page:
            return Named(run=page)


@ROUTES.get("/api/find/run", permission=Permission.READ, summary="Return the run with a name.", errors=_NOT_FOUND)
async def find_run(call: Call, query: NameQuery) -> RunView:
    return await call.services.queries.runs.named(query.name)


@ROUTES.get(
    "/api/find/execution",
    permission=Permission.READ,
    summary="Return the id of the execution with a name.",
    errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def find_execution(call: Call, query: NameQuery) -> FoundExecution:
    return FoundExecution(execution_id=await call.services.queries.workflows.find_execution(query.name))
