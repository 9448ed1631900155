"""Pick-up: from the call that enqueues to the start of the job, one run every 20 ms, nothing else to do."""

from bench.children import Child, Contender, run
from bench.orders import Order, Result
from bench.places import Places
from bench.roster import CEILING_POSTGRES, CEILING_SQLITE, FOLIOT_POSTGRES, FOLIOT_SQLITE, LATENCY
from bench.samples import interleave
from bench.scale import Scale
from bench.tables import Column, Ratio, Table

_COLUMNS = (Column("p50", "p50 ms", 2), Column("p99", "p99 ms", 2))


def measure(places: Places, scale: Scale) -> list[Table]:
    count = scale.pick(500, 100)
    samples = interleave(LATENCY, scale.rounds_of(3), lambda each: _measure(each, places, scale, count))
    note = f"{count} runs, one every 20 ms; caller and worker in one process unless said otherwise; {scale.durability}."
    ratios = [
        Ratio(name=FOLIOT_SQLITE.name, over=CEILING_SQLITE.name, metric="p50", at_most=2),
        Ratio(name=FOLIOT_POSTGRES.name, over=CEILING_POSTGRES.name, metric="p50", at_most=2),
    ]
    limits = {(name, "p99"): 50.0 for name in (FOLIOT_SQLITE.name, FOLIOT_POSTGRES.name)}
    return [Table(title="Latency", note=note, columns=_COLUMNS, samples=samples, ratios=ratios, limits=limits)]


def _measure(contender: Contender, places: Places, scale: Scale, count: int) -> Result:
    with places.fresh(contender.database) as (place, marks):
        order = Order(place=place, marks=marks, count=count, slots=scale.slots, synchronous=scale.synchronous)
        if not contender.program:
            return run(contender, contender.operation, order)
        with Child(contender, order):
            return run(contender, contender.operation, order)
