"""Writes metrics in the text format of Prometheus."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import foliot
from foliot.domain.chain.class_state import BreakerState
from foliot.domain.run.run import TERMINAL
from foliot.domain.schedule.tick import REASONS, TickOutcome, TickReason
from foliot.service.queries.meter import Histogram, Meter
from foliot.service.queries.metrics import ClassMetrics, Snapshot

if TYPE_CHECKING:
    from prometheus_client import Metric

MEDIA_TYPE: Final = "text/plain"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def prometheus_text(snapshot: Snapshot, meter: Meter) -> bytes:
    # Loaded with the first request for metrics.
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    registry.register(_Families([*_gauges(snapshot), *_class_gauges(snapshot.classes), *_counted(meter)]))
    return generate_latest(registry)


class _Families:
    """Metrics that are already collected."""

    def __init__(self, families: Iterable["Metric"]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable["Metric"]:
        return self._families


def _gauges(found: Snapshot) -> Iterator["Metric"]:
    yield _gauge("build_info", "The version of the server.", {foliot.__version__: 1}, "version")
    yield _gauge("jobs_total", "Jobs, without steps of workflows.", found.jobs)
    yield _gauge("jobs_enabled", "Jobs that are enabled and not paused.", found.jobs - found.jobs_disabled)
    yield _gauge("jobs_disabled", "Jobs that are disabled or paused.", found.jobs_disabled)
    yield _gauge("schedules_due", "Schedules with a due tick that is not decided yet.", found.schedules_due)
    yield _gauge("runs_running", "Runs that are running, without children.", found.depth.running)
    yield _gauge("runs_queued", "Runs that wait for a worker or a limit, without children.", found.depth.queued)
    yield _gauge("runs_scheduled", "Runs that wait for their time or gate, without children.", found.depth.scheduled)
    if found.last_finish_age is not None:
        yield _gauge("last_finish_age_seconds", "Time since a run has ended.", found.last_finish_age)
    yield _gauge("scheduler_alive", "Whether a scheduler is alive.", int(found.has_scheduler))
    yield _gauge("workers_alive", "Workers that are alive.", found.workers)
    yield _gauge("worker_slots", "How many runs the living workers can execute at the same time.", found.worker_slots)
    deliveries = {"pending": found.deliveries_pending, "failed": found.deliveries_failed}
    yield _gauge("deliveries", "Notifications that wait, or have failed for good recently.", deliveries, "state")
    sizes = {"database": found.storage.database, "logs": found.storage.logs}
    yield _gauge("storage_bytes", "Size of the database.", sizes, "part")
    if found.storage.free is not None:
        yield _gauge("storage_free_bytes", "Free space on the disk of the database.", found.storage.free)


def _class_gauges(classes: Iterable[ClassMetrics]) -> Iterator["Metric"]:
    active = {one.id: one.active for one in classes}
    is_open = {one.id: int(one.breaker is BreakerState.OPEN) for one in classes}
    stopped = {one.id: int(one.stopped) for one in classes}
    yield _gauge("chains_active", "Chains that are not closed, by class.", active, "class")
    yield _gauge("chain_breaker_open", "Whether the breaker of a class of chains is open.", is_open, "class")
    yield _gauge("chain_class_stopped", "Whether a person has stopped a class of chains.", stopped, "class")


def _counted(meter: Meter) -> Iterator["Metric"]:
    ran = {reason: meter.ticks[TickOutcome.RAN, reason] for reason in REASONS[TickOutcome.RAN]}
    overlapping = meter.ticks[TickOutcome.SKIPPED, TickReason.OVERLAP]
    yield _counter("runs_emitted", "Ticks that a run was created for.", sum(ran.values()))
    yield _counter("runs_skipped_overlap", "Ticks that were skipped, because a run was in flight.", overlapping)
    yield _counter("runs_failed_launch", "Ticks and runs that could not be launched.", meter.refused)
    statuses = {str(status): meter.ended[status] for status in sorted(TERMINAL)}
    yield _counter("runs", "Ended runs by status.", statuses, "status")
    yield _counter("run_reasons", "Ended runs by reason, if they have one.", meter.reasons, "reason")
    yield _ticks(meter)
    yield _histogram("run_drift_seconds", "Difference of the planned time and the first start.", meter.drift)
    yield _histogram("run_duration_seconds", "Duration of the last attempt of ended runs.", meter.durations)


def _gauge(name: str, words: str, values: float | Mapping[str, float], label: str = "") -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    if not isinstance(values, Mapping):
        return GaugeMetricFamily(f"foliot_{name}", words, value=values)
    family = GaugeMetricFamily(f"foliot_{name}", words, labels=[label])
    for value in values:
        family.add_metric([value], values[value])
    return family


def _counter(name: str, words: str, values: float | Mapping[str, float], label: str = "") -> "Metric":
    """Return a counter; its name ends in _total."""
    from prometheus_client.core import CounterMetricFamily

    if not isinstance(values, Mapping):
        return CounterMetricFamily(f"foliot_{name}", words, value=values)
    family = CounterMetricFamily(f"foliot_{name}", words, labels=[label])
    for value in values:
        family.add_metric([value], values[value])
    return family


def _ticks(meter: Meter) -> "Metric":
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily("foliot_ticks", "Decided ticks by outcome and reason.", labels=["outcome", "reason"])
    for outcome, reasons in REASONS.items():
        for reason in sorted(reasons):
            family.add_metric([outcome, reason], meter.ticks[outcome, reason])
    return family


def _histogram(name: str, words: str, values: Histogram) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily

    bounds = [*map(str, values.bounds), "+Inf"]
    buckets = list(zip(bounds, values.cumulative(), strict=True))
    return HistogramMetricFamily(f"foliot_{name}", words, buckets=buckets, sum_value=values.sum)
