"""Removing what need not be kept, a bounded piece at a time.

What is to go is looked for without a lock (`Walk.find`) and removed in one short transaction. History has no index by
age: it is walked in the order in which it was written, and the walk goes on where the last piece ended.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from foliot.adapters.storage.documents import encode_names
from foliot.adapters.storage.retention import removable_before
from foliot.adapters.storage.sqlite.committer import Transaction
from foliot.adapters.storage.sqlite.connection import Session
from foliot.adapters.storage.sqlite.edits import clear_planned
from foliot.adapters.storage.sqlite.leadership import SQL
from foliot.domain.ids import RunId, ScheduleUid, first_id_at
from foliot.domain.instant import Instant, Millis
from foliot.ports.upkeep import Pruned, Retention

_STRIDE: Final = 1_000
_MAX_STRIDES: Final = 20
_LEFT_BY_RUNS: Final = (
    *("remove_attempts", "remove_outputs", "remove_executions", "remove_steps", "remove_notes", "remove_endings"),
    "remove_decisions",
)


class Finds(NamedTuple):
    """What may go: runs that are over, deleted schedules without ticks, and a stretch of schedules with old ticks."""

    runs: list[RunId]
    empty: list[ScheduleUid]
    ledgers: list[tuple[ScheduleUid, Instant]]
    """Schedules, and the moment before which their ticks may go."""


@dataclass
class Walk:
    """How far a round through history has come. None: to the end."""

    run: int | None = 0
    job: str | None = ""
    workflow: str | None = ""
    schedule: str | None = ""

    @property
    def is_over(self) -> bool:
        return all(place is None for place in (self.run, self.job, self.workflow, self.schedule))

    def find(self, session: Session, project: str, retention: Retention, now: Instant, limit: int) -> Finds:
        self._pass_by_what_is_kept(retention)
        runs = self._find_runs(session, project, retention, now, limit)
        empty = [uid for (uid,) in session.rows(SQL["empty_schedules"], (limit,))]
        age = retention.ticks_age
        ledgers = [] if age is None else list(self._old_ledgers(session, age, now, limit))
        return Finds(runs, empty, ledgers)

    def _pass_by_what_is_kept(self, retention: Retention) -> None:
        if retention.runs_age is None:
            self.run = None
        if retention.runs_per_job is None:
            self.job = None
        if retention.executions_per_workflow is None:
            self.workflow = None
        if retention.ticks_age is None:
            self.schedule = None

    def _find_runs(self, session: Session, project: str, retention: Retention, now: Instant, limit: int) -> list[RunId]:
        stood = self.run, self.job, self.workflow
        runs: dict[RunId, None] = {}
        if retention.runs_age is not None:
            runs.update(dict.fromkeys(self._old_runs(session, Instant(now - retention.runs_age), limit)))
        if retention.runs_per_job is not None:
            surplus = self._surplus_runs(session, project, retention.runs_per_job, limit - len(runs))
            runs.update(dict.fromkeys(surplus))
        if retention.executions_per_workflow is not None:
            kept = retention.executions_per_workflow
            runs.update(dict.fromkeys(self._surplus_executions(session, project, kept, limit - len(runs))))
        if retention.executions_age is not None:
            cut = Instant(now - retention.executions_age)
            runs.update(dict.fromkeys(_old_executions(session, cut, limit - len(runs))))
        found = _with_parts(session, list(runs), limit)
        if len(found) >= limit:
            # Parts may have taken the place of what was found: it is looked for again.
            self.run, self.job, self.workflow = stood
        return found

    def _old_runs(self, session: Session, before: Instant, limit: int) -> list[RunId]:
        found: list[RunId] = []
        for _ in range(_MAX_STRIDES):
            if self.run is None:
                break
            rows = session.rows(SQL["walk_runs"], (self.run, _STRIDE))
            for rowid, run_id, _, finished_at, is_needed in rows:
                self.run = rowid
                if finished_at is not None and finished_at < before and not is_needed:
                    found.append(run_id)
                if len(found) == limit:
                    return found
            if len(rows) < _STRIDE or rows[-1][2] >= before:
                self.run = None
        return found

    def _surplus_runs(self, session: Session, project: str, keep: int, limit: int) -> list[RunId]:
        found: list[RunId] = []
        for _ in range(_STRIDE):
            if self.job is None or len(found) >= limit:
                break
            job_id = session.value(SQL["next_job"], (project, self.job))
            if job_id is None:
                self.job = None
                break
            if session.value(SQL["count_runs"], (project, job_id, keep + 1)) > keep:
                rows = session.rows(SQL["surplus_runs"], (project, job_id, keep, limit - len(found)))
                found += [run_id for (run_id,) in rows]
            if len(found) < limit:
                self.job = job_id
        return found

    def _surplus_executions(self, session: Session, project: str, keep: int, limit: int) -> list[RunId]:
        found: list[RunId] = []
        for _ in range(_STRIDE):
            if self.workflow is None or len(found) >= limit:
                break
            workflow_id = session.value(SQL["next_workflow"], (project, self.workflow))
            if workflow_id is None:
                self.workflow = None
                break
            rows = session.rows(SQL["surplus_executions"], (project, workflow_id, keep, limit - len(found)))
            found += [run_id for (run_id,) in rows]
            if len(found) < limit:
                self.workflow = workflow_id
        return found

    def _old_ledgers(
        self, session: Session, age: Millis, now: Instant, limit: int
    ) -> Iterator[tuple[ScheduleUid, Instant]]:
        """A schedule whose ticks are too many for one piece is looked at again."""
        if self.schedule is None:
            return
        rows = session.rows(SQL["walk_schedules"], (self.schedule, limit))
        room = limit
        for uid, spec, settled_until in rows:
            if session.value(SQL["has_old_ticks"], (uid, now - age)):
                before = removable_before(spec, settled_until, now, age)
                room -= session.value(SQL["count_old_ticks"], (uid, before, room))
                yield uid, before
            if room == 0:
                return
            self.schedule = uid
        if len(rows) < limit:
            self.schedule = None


def _old_executions(session: Session, before: Instant, limit: int) -> list[RunId]:
    rows = session.rows(SQL["old_executions"], (first_id_at(before), before, limit))
    return [run_id for (run_id,) in rows]


def _with_parts(session: Session, run_ids: list[RunId], limit: int) -> list[RunId]:
    """These runs with all that is a part of them; of what is too much at once, a piece, the parts before the whole."""
    parts = [run_id for (run_id,) in session.rows(SQL["parts_of_runs"], (encode_names(run_ids), limit))]
    if not parts:
        return run_ids
    first = list(dict.fromkeys(_with_parts(session, parts, limit)))
    return first if len(first) >= limit else list(dict.fromkeys([*first, *run_ids]))


def remove(tx: Transaction, finds: Finds, retention: Retention, now: Instant, limit: int) -> Pruned:
    """Remove what was found, and what the oldest end of the other tables has to offer."""
    tx.run(SQL["forget_limits"], (limit,))
    events = 0
    if retention.events_age is not None:
        events = tx.run(SQL["remove_events"], (now - retention.events_age, limit))
    dedupe = tx.run(SQL["expire_dedupe"], (now, limit))
    runs, forgotten = _remove_runs(tx, finds.runs)
    ticks = _remove_ticks(tx, finds.ledgers, limit)
    schedules = sum(_remove_schedule(tx, uid) for uid in finds.empty)
    return Pruned(runs, 0, ticks, events, schedules, dedupe + forgotten)


def _remove_runs(tx: Transaction, run_ids: Collection[RunId]) -> tuple[int, int]:
    if not run_ids:
        return 0, 0
    ids = encode_names(run_ids)
    removed = tx.run(SQL["remove_runs"], (ids,))
    for left_over in _LEFT_BY_RUNS:
        tx.run(SQL[left_over], (ids,))
    return removed, tx.run(SQL["forget_dedupe"], (ids,))


def _remove_ticks(tx: Transaction, ledgers: Collection[tuple[ScheduleUid, Instant]], limit: int) -> int:
    removed = 0
    for uid, before in ledgers:
        rows = tx.rows(SQL["remove_ticks"], (uid, before, limit - removed))
        if rows:
            tx.run(SQL["ledger_begins"], (max(until for (until,) in rows) + 1, uid))
        removed += len(rows)
        if removed >= limit:
            break
    return removed


def _remove_schedule(tx: Transaction, uid: ScheduleUid) -> int:
    removed = tx.run(SQL["remove_schedules"], (uid,))
    if removed:
        for query in (SQL["remove_revisions"], SQL["remove_pauses"]):
            tx.run(query, (uid,))
        clear_planned(tx, [uid])
    return removed
