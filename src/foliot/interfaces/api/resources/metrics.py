"""Metrics for Prometheus."""

from starlette.responses import Response

from foliot.domain.access.role import Permission
from foliot.interfaces.api.call import Call
from foliot.interfaces.api.prometheus import CONTENT_TYPE, MEDIA_TYPE, prometheus_text
from foliot.interfaces.api.resources.table import ROUTES


@ROUTES.get(
    "/metrics",
    permission=Permission.READ,
    summary="Return metrics in the text format of Prometheus. Counters begin with the first request.",
    media_type=MEDIA_TYPE,
)
async def get_metrics(call: Call) -> Response:
    # All requests read the counters of the process.
    services = call.context.services
    await call.context.metering.start(services)
    metrics = services.queries.metrics
    return Response(prometheus_text(await metrics.snapshot(), metrics.meter), headers={"Content-Type": CONTENT_TYPE})
