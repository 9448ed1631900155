"""Reads of what shows whether schedules fire and runs are executed. No read grows with the history."""

from collections.abc import Collection
from functools import partial
from typing import Final

from foliot.adapters.storage.shared.definition_reads import DefinitionReads
from foliot.adapters.storage.shared.project_pauses import last_project_pause
from foliot.adapters.storage.shared.reads import Leader, LongLeases, PageOfRuns, Query, Read, SizeOnDisk
from foliot.adapters.storage.shared.rows import job_of, read_rows
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.domain.clock import TOLERANCE, ClockFault, ClockFaultKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Run, Status
from foliot.domain.schedule.project_pause import ProjectPause
from foliot.domain.schedule.schedule import Schedule
from foliot.ports.health import ClockEffects, HealthDetails, HealthLimits, LongLease, StorageSize, Totals
from foliot.ports.pages import RunFilter, RunTimes

_FAILURES: Final = (Status.FAILED, Status.TIMEOUT)
_SEARCHED: Final = 500
"""Failing jobs are looked for among so many of the newest runs of each status."""


class HealthReads:
    """Reads of one project."""

    def __init__(self, project: str, runs: RunReads, definitions: DefinitionReads) -> None:
        self._project = project
        self._runs = runs
        self._definitions = definitions

    def health(self, limits: HealthLimits) -> Read[HealthDetails]:
        leaders = yield Leader()
        queues = yield Query("ready_queues", (limits.rows,))
        pause = yield from last_project_pause(self._project)
        late, late_count = yield from self._late(limits, pause)
        [size] = yield SizeOnDisk()
        clocks = yield Query("clock_faults", (limits.rows,))
        failing = yield from self._failing(limits)
        shown = failing[: limits.rows]
        runs = (yield from self._runs.get(shown)).runs
        return HealthDetails(
            has_scheduler=any(is_alive for _, _, is_alive in leaders),
            workers=(yield from self._runs.workers()),
            depth=(yield from self._runs.depth(limits.counted)),
            ready_queues=[row[0] for row in queues],
            late=late,
            late_count=late_count,
            failing=[runs[run_id] for run_id in shown if run_id in runs],
            failing_count=len(failing),
            stopped=[JobId(row[0]) for row in (yield Query("stopped_jobs", (self._project, limits.rows)))],
            size=StorageSize(*size),
            project_pause=pause,
            clock_faults=[ClockFault(node, ClockFaultKind(kind), *rest) for node, kind, *rest in clocks],
        )

    def totals(self, counted: int) -> Read[Totals]:
        [row] = yield Query("totals", (self._project, counted))
        return Totals(*row)

    def run_times(self, run_ids: Collection[RunId]) -> Read[dict[RunId, RunTimes]]:
        rows = (yield Query("run_times", (list(run_ids),))) if run_ids else ()
        return {RunId(run_id): RunTimes(*times) for run_id, *times in rows}

    def clock_effects(self, now: Instant, limit: int) -> Read[ClockEffects]:
        found = yield Query("schedules_ahead", (now + TOLERANCE, limit))
        schedules = yield from self._definitions.read_schedules(found)
        leases = yield LongLeases(now + TOLERANCE, limit)
        return ClockEffects(
            # Ticks with jitter may be decided before their planned moment.
            [one for one in schedules if one.settled_until > now + TOLERANCE + one.revision.spec.early],
            [LongLease(*row) for row in leases],
        )

    def long_runs(self, started_before: Instant, limit: int) -> Read[list[Run]]:
        rows = yield Query("oldest_leases", (started_before, limit))
        run_ids = [RunId(run_id) for (run_id,) in rows]
        runs = (yield from self._runs.get(run_ids)).runs
        return [runs[run_id] for run_id in run_ids if run_id in runs]

    def _late(self, limits: HealthLimits, pause: ProjectPause | None) -> Read[tuple[list[Schedule], int]]:
        """Return late schedules, and their number. None is late while all are paused, or shortly after that."""
        if pause is not None and (pause.until is None or pause.until >= limits.late_since):
            return [], 0
        [(count,)] = yield Query("count_late_schedules", (limits.late_since, limits.counted))
        values = (limits.late_since, limits.rows)
        late = yield Query("late_schedules", values)
        behind = yield Query("behind_schedules", values)
        shown = yield from self._definitions.read_schedules([*late, *behind][: limits.rows])
        return shown, min(count, limits.counted)

    def _failing(self, limits: HealthLimits) -> Read[list[RunId]]:
        """Return the newest failed run of each enabled job that has not succeeded since, newest first."""
        failed: list[str] = []
        for status in _FAILURES:
            failed += [row[0] for row in (yield PageOfRuns(RunFilter(status=status, limit=_SEARCHED, roots=True)))]
        rows = (yield Query("failing_runs", (failed, limits.failed_since))) if failed else ()
        newest: dict[str, str] = {row[0]: row[1] for row in rows}
        found = (yield Query("get_jobs", (self._project, list(newest)))) if newest else ()
        jobs, _ = read_rows(partial(job_of, self._project), found)
        return sorted((RunId(newest[job.id]) for job in jobs if job.spec.enabled), reverse=True)
