"""Events: changes as they happen."""

from http import HTTPStatus

from starlette.responses import Response

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.paging import PageQuery, cursor_after, number_cursor
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.interfaces.api.streams import event_frames, event_stream, last_number
from foliot.service.answers import Page
from foliot.service.event_reader import EventView


class StreamQuery(Parameters, frozen=True, kw_only=True):
    after: int | None = None
    """Begin after this event, as with the header Last-Event-ID. By default with the next event."""


@ROUTES.get(
    "/api/events",
    permission=Permission.READ,
    summary="Stream all events as server-sent events.",
    media_type="text/event-stream",
    streams=True,
)
async def stream_events(call: Call, query: StreamQuery) -> Response:
    return event_stream(call, event_frames(call, last_number(call, query.after)))


@ROUTES.get("/api/events/page", permission=Permission.READ, summary="List stored events, oldest first.")
async def list_events(call: Call, query: PageQuery) -> Page[EventView]:
    events = call.services.queries.events
    newest = await events.newest()
    found = await events.page(after=number_cursor(query.cursor) or 0, limit=query.limit)
    return Page(items=found, next=cursor_after(found[-1].id) if found and found[-1].id < newest else None)


@ROUTES.get(
    "/api/runs/{run_id}/events",
    permission=Permission.READ,
    summary="Stream the events of a run and of all runs below it: steps, items and the reducer.",
    errors=(HTTPStatus.NOT_FOUND,),
    media_type="text/event-stream",
    streams=True,
)
async def stream_run_events(call: Call, run_id: str, query: StreamQuery) -> Response:
    await call.services.queries.runs.get(run_id)
    return event_stream(call, event_frames(call, last_number(call, query.after), run_id))
