"""Cron expressions."""

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Literal

import msgspec
from starlette.responses import Response

from foliot.domain.access.role import Permission
from foliot.errors import InvalidCron, InvalidTimezone
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.errors import describe
from foliot.interfaces.api.reading import Parameters
from foliot.interfaces.api.resources.table import ROUTES
from foliot.service.answers import ErrorDetail
from foliot.service.queries.cron import CronExplanation

Expression = Annotated[str, msgspec.Meta(max_length=10_000)]
Count = Annotated[int, msgspec.Meta(ge=1, le=100)]


class CronQueryParameters(Parameters, frozen=True, kw_only=True):
    expr: Expression
    tz: str | None = None
    """An IANA time zone; by default UTC."""
    count: Count = 5
    start: datetime | None = None
    """Begin at this time instead of now."""
    dst: Literal["vixie", "skip", "literal"] = "vixie"
    dom_dow: Literal["or", "and"] = "or"
    key: str | None = None
    """The name that H is computed from."""
    collisions: bool = False
    """Also compare it with the fire times of schedules."""


class CronRefused(msgspec.Struct, frozen=True, kw_only=True):
    ok: bool
    error: ErrorDetail


@ROUTES.get(
    "/api/cron/explain",
    permission=Permission.READ,
    summary="Explain a cron expression: words, next fire times, clock changes, warnings.",
    errors=(HTTPStatus.BAD_REQUEST,),
    answer=CronExplanation,
)
async def explain_cron(call: Call, query: CronQueryParameters) -> CronExplanation | Response:
    try:
        return await call.services.queries.cron.explain(
            query.expr,
            query.tz,
            count=query.count,
            start=query.start,
            dst=query.dst,
            dom_dow=query.dom_dow,
            key=query.key,
            with_collisions=query.collisions,
        )
    except (InvalidCron, InvalidTimezone) as error:
        # With `ok`, which clients of an earlier scheduler read.
        found = describe(error, call.request_id)[1].error
        field = "expr" if isinstance(error, InvalidCron) else "tz"
        refused = CronRefused(ok=False, error=msgspec.structs.replace(found, field=field))
        return Response(msgspec.json.encode(refused), HTTPStatus.BAD_REQUEST, media_type="application/json")
