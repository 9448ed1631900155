"""Fanouts: children a second, the cost of a million items, and other jobs meanwhile.

Foliot is a real `foliot serve`, a scheduler with its worker in one process, with a file of jobs. A second process
starts the fanout and waits for its end.
"""

from collections.abc import Iterator

from bench.fanout import beside, growth, rates
from bench.places import Places
from bench.scale import Scale
from bench.tables import Table


def measure(places: Places, scale: Scale) -> Iterator[Table]:
    """Yield each table when it is measured: all of them take long."""
    yield rates.measure_commands(places, scale)
    yield rates.measure_functions(places, scale)
    yield growth.measure(places, scale)
    yield beside.measure(places, scale)
