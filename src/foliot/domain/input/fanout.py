"""Reads the options of a fanout that are arguments of a call."""

from typing import Any, Final

from foliot.domain.fanout.spec import MAX_CONCURRENCY
from foliot.domain.input.keywords import read_keywords
from foliot.domain.instant import DAY, SECOND
from foliot.domain.vocabulary.places import MAP_CALL
from foliot.errors import InvalidRun, shown

_MOST_SECONDS: Final = 366 * DAY // SECOND
_RANGES: Final = {
    "concurrency": (1, MAX_CONCURRENCY, 1),
    "partial_tolerance": (0, 1, 1),
    "per_item_timeout": (0.001, _MOST_SECONDS, SECOND),
    "max_items": (1, 10_000_000, 1),
    "max_item_size": (1, 128 * 1024, 1),
    "max_input_size": (1, 1 << 34, 1),
}
"""Option -> least, most, and how many of its stored unit are one of these. As in `FanoutFields`."""


def map_options(**given: Any) -> dict[str, Any]:
    """Read and check the options of `app.map`. Return those that were given, as fields of `FanoutFields`."""
    read = read_keywords(MAP_CALL, given, InvalidRun)
    for name, value in read.items():
        least, most, unit = _RANGES[name]
        if not least <= value / unit <= most:
            raise InvalidRun(
                f"{read.written[name]} must be {least} to {most}, not {shown(given[read.written[name]])}",
                hint="Leave it out for the default.",
                field=name,
            )
    return dict(read)
