"""The HTTP API: requests beside a bare endpoint, lines of streams, and ticks and pages beside requests and history."""

from bench.api.growth import measure_growth
from bench.api.lateness import measure_lateness
from bench.api.requests import measure_requests
from bench.api.streams import measure_streams
from bench.places import Places
from bench.scale import Scale
from bench.tables import Table


def measure(places: Places, scale: Scale) -> list[Table]:
    return [
        measure_requests(places, scale),
        measure_streams(places, scale),
        measure_lateness(places, scale),
        *measure_growth(places, scale),
    ]
