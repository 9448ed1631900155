"""Reads of runs and executions, and of what they wait for."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from foliot.adapters.storage.shared.documents import decode_names, read_overrides
from foliot.adapters.storage.shared.fanout_reads import FanoutReads
from foliot.adapters.storage.shared.reads import AllWorkers, PageOfRuns, Query, Read
from foliot.adapters.storage.shared.rows import Row, job_of, read_rows, worker_of
from foliot.adapters.storage.shared.run_rows import attempt_of, kept_from, run_of
from foliot.adapters.storage.shared.tree_rows import record_of, shown_execution_of, shown_state_of, version_of
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.gate.decision import Decision
from foliot.domain.ids import ID_LENGTH, JobId, RunId, first_id_at
from foliot.domain.instant import Instant
from foliot.domain.job.definition import mapped_job
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.payload import UNREADABLE
from foliot.domain.run.reference import NewestRun, RunById, RunByPart, RunReference
from foliot.domain.run.report import LaunchRecord
from foliot.domain.run.results import RunState
from foliot.domain.run.run import Run, Status
from foliot.domain.schedule.tick_run import LAUNCH_JOB
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import GRAPH
from foliot.domain.workflow.start import NO_START_INPUT, StartInput
from foliot.errors import RowUnreadable
from foliot.ports.definitions import WorkflowVersion
from foliot.ports.health import Depth
from foliot.ports.pages import (
    EVERY_RUN,
    AwaitedLimit,
    Blockers,
    ExecutionDetails,
    ExecutionsPage,
    FoundRun,
    Matches,
    RunDetails,
    RunFilter,
    RunListFilter,
)

WAITING: Final = (Status.SCHEDULED, Status.QUEUED)
_OVERRIDES: Final = 26
"""The index of the column in a run's row."""
_QUEUES: Final = 2
_RECENT: Final = 1_000
"""A run is searched by the end of its id only among this many newest runs, and newest runs that are no children; a
prefix is found by the index."""
_SEARCH_PAGE: Final = 500
_SEARCH_PAGES: Final = 20
"""Runs of one kind or tag have no index. They are searched in so many pages of the newest runs."""
_JOB_PAGE: Final = 1_000
_JOB_PAGES: Final = 10
_HOLDERS: Final = 6
_STATUSES: Final = {str(status): status for status in Status}
_STORED_OPEN: Final = "scheduled"
"""The stored status of every run that has not ended."""

VersionKey = tuple[str, int]


class FoundRuns(NamedTuple):
    runs: Mapping[RunId, Run]
    overrides: Mapping[RunId, Any]

    def start_input(self, run_id: RunId) -> StartInput:
        """Return the input that was given when the run was started."""
        try:
            return StartInput.read(read_overrides(self.overrides[run_id], run_id))
        except RowUnreadable:
            return NO_START_INPUT


class RunReads:
    """Reads of one project."""

    def __init__(self, project: str) -> None:
        self._project = project
        self.fanouts = FanoutReads(self.by_id)

    # -- runs

    def by_id(self, run_ids: Collection[RunId]) -> Read[dict[RunId, Run]]:
        return dict((yield from self.get(run_ids)).runs)

    def get(self, run_ids: Collection[RunId]) -> Read[FoundRuns]:
        rows = (yield Query("get_runs", (list(run_ids),))) if run_ids else ()
        runs = yield from self._with_trees([run_of(self._project, row) for row in rows])
        overrides = {run.id: row[_OVERRIDES] for run, row in zip(runs, rows, strict=True)}
        return FoundRuns({run.id: run for run in runs}, overrides)

    def brief(self, run_ids: Collection[RunId]) -> Read[dict[RunId, Run]]:
        """Return runs without payloads and outputs, and with the beginnings of their errors."""
        rows = (yield Query("get_brief_runs", (list(run_ids),))) if run_ids else ()
        runs = yield from self._with_trees([run_of(self._project, row) for row in rows])
        return {run.id: run for run in runs}

    def states(self, run_ids: Collection[RunId]) -> Read[dict[RunId, RunState]]:
        """Return only what a strip of ticks shows. Runs that cannot be read are omitted."""
        rows = (yield Query("run_states", (list(run_ids),))) if run_ids else ()
        return {
            RunId(run_id): RunState(_STATUSES[status], started_at, finished_at)
            for run_id, status, started_at, finished_at in rows
            if status in _STATUSES
        }

    def _with_trees(self, runs: list[Run]) -> Read[list[Run]]:
        """Set the kinds of trees: as they were opened; those that were not opened yet by the kinds of their jobs. The
        fanouts of `app.map` have no job of their own."""
        trees = [run for run in runs if run.queue == TREES_QUEUE]
        if not trees:
            return runs
        kinds: dict[str, str] = {row[0]: row[1] for row in (yield Query("tree_kinds", ([run.id for run in trees],)))}
        waiting = {run.job_id for run in trees if run.id not in kinds}
        rows = (yield Query("get_jobs", (self._project, list(waiting)))) if waiting else ()
        jobs = {job_id: FANOUT for job_id in waiting if mapped_job(job_id) is not None}
        jobs |= {job.id: job.spec.kind for job in read_rows(partial(job_of, self._project), rows)[0]}
        return [
            run._replace(tree=kinds.get(run.id, jobs.get(run.job_id))) if run.queue == TREES_QUEUE else run
            for run in runs
        ]

    def page(self, only: RunFilter) -> Read[list[Run]]:
        run_ids = [row[0] for row in (yield PageOfRuns(only))]
        found = (yield from self.get(run_ids)).runs
        return [found[run_id] for run_id in run_ids if run_id in found]

    def brief_page(self, only: RunFilter) -> Read[list[Run]]:
        run_ids = [row[0] for row in (yield PageOfRuns(only))]
        found = yield from self.brief(run_ids)
        return [found[run_id] for run_id in run_ids if run_id in found]

    def children(self, run_id: RunId, after: RunId | None, limit: int) -> Read[list[Run]]:
        run_ids = [row[0] for row in (yield Query("children_in_order", (run_id, after or "", limit)))]
        found = (yield from self.get(run_ids)).runs
        return [found[child_id] for child_id in run_ids if child_id in found]

    def latest(self, job_ids: Collection[JobId]) -> Read[dict[JobId, Run]]:
        """Return the newest run of each job that has one."""
        rows = (yield Query("latest_runs", (self._project, list(job_ids)))) if job_ids else ()
        found = yield from self.get([row[0] for row in rows])
        return {run.job_id: run for run in found.runs.values()}

    def matching(self, reference: RunReference) -> Read[list[RunId]]:
        """Return the ids that match a reference, or only some if many match. The run of a `RunById` may not exist."""
        match reference:
            case RunById(run_id):
                return [run_id]
            case NewestRun(job_id):
                # The newest run of all is one that was started, not one of its children.
                only = RunFilter(job_id=job_id, limit=1, roots=job_id is None)
                return [row[0] for row in (yield PageOfRuns(only))]
            case RunByPart(part):
                # One character longer than an id: `before` is exclusive, and an id may end in Z itself.
                above = RunId(part.ljust(ID_LENGTH + 1, "Z"))
                begun = yield PageOfRuns(RunFilter(before=above, limit=2))
                recent = yield PageOfRuns(RunFilter(limit=_RECENT))
                roots = yield PageOfRuns(RunFilter(limit=_RECENT, roots=True))
                ended = [*roots, *recent]
                found = [row[0] for row in begun if row[0].startswith(part)]
                return list(dict.fromkeys([*found, *(row[0] for row in ended if row[0].endswith(part))]))

    def find(self, reference: RunReference) -> Read[FoundRun | Matches]:
        run_ids = yield from self.matching(reference)
        found = yield from self.get(run_ids if len(run_ids) == 1 else ())
        if not found.runs:
            return Matches(tuple(run_ids) if len(run_ids) > 1 else ())
        [run] = found.runs.values()
        return FoundRun(run, found.start_input(run.id), (yield from self._launch(run)))

    def _launch(self, run: Run) -> Read[LaunchRecord | None]:
        rows = (yield Query("launches", (run.id,))) if run.job_id == LAUNCH_JOB else ()
        return LaunchRecord(*rows[0]) if rows else None

    def listed(
        self,
        only: RunFilter,
        root: RunReference | None,
        parent: RunReference | None = None,
        among: RunListFilter = EVERY_RUN,
    ) -> Read[list[Run] | Matches]:
        named = root or parent
        if named is not None:
            found = yield from self.find(named)
            if isinstance(found, Matches):
                return found
            run_id = found.run.id
            only = only._replace(parent_id=run_id) if root is None else only._replace(root_id=run_id)
        tagged = None if among.tag is None else (yield from self._tagged(among.tag))
        only = only._replace(before=_before(only, among))
        runs: list[Run] = []
        for status in among.statuses or (only.status,):
            runs += yield from self._search(only._replace(status=status), among, tagged)
        return sorted(runs, key=lambda run: run.id, reverse=True)[: only.limit]

    def _search(self, only: RunFilter, among: RunListFilter, tagged: Collection[str] | None) -> Read[list[Run]]:
        """Return the newest runs of a filter that are of a kind and of some jobs, and not older than a moment."""
        first = max(among.prefix, "" if among.since is None else first_id_at(among.since))
        if among.kind is None and tagged is None:
            return [run for run in (yield from self.page(only)) if run.id >= first]
        size = max(only.limit, _SEARCH_PAGE)
        found: list[RunId] = []
        for _ in range(_SEARCH_PAGES):
            # Payloads and outputs are read for the runs that are found only.
            page = yield from self.brief_page(only._replace(limit=size))
            recent = [run for run in page if run.id >= first]
            found += [
                run.id
                for run in recent
                if among.kind in (None, kind_of(run)) and (tagged is None or run.job_id in tagged)
            ]
            if len(found) >= only.limit or len(recent) < size:
                break
            only = only._replace(before=page[-1].id)
        runs = yield from self.by_id(found[: only.limit])
        return [runs[run_id] for run_id in found[: only.limit] if run_id in runs]

    def _tagged(self, tag: str) -> Read[frozenset[str]]:
        """Return the jobs with a tag, of the first 10,000."""
        found: list[str] = []
        after = ""
        for _ in range(_JOB_PAGES):
            rows = yield Query("page_shown_jobs", (self._project, after, _JOB_PAGE))
            found += [job.id for job in read_rows(partial(job_of, self._project), rows)[0] if tag in job.spec.tags]
            if len(rows) < _JOB_PAGE:
                break
            after = rows[-1][0]
        return frozenset(found)

    def details(self, reference: RunReference) -> Read[RunDetails | Matches]:
        found = yield from self.find(reference)
        if isinstance(found, Matches):
            return found
        run, start_input, launch = found
        attempts = [attempt_of(row) for row in (yield Query("attempts", (run.id,)))]
        decisions = yield Query("decisions", ([run.id],))
        # An item of a fanout may be an execution itself; a step is shown with the execution that it is part of.
        is_execution = run.tree == GRAPH and kind_of(run) is not RunKind.STEP
        executions = yield from self.executions([run.id if is_execution else run.parent_id or run.id])
        waiting = [one for execution in executions for one in execution.waiting.values()]
        blockers = yield from self.blockers([run, *waiting])
        fanout = (yield from self.fanouts.details(run.id)) if run.tree == FANOUT else None
        moments = yield Query("logs_kept_from")
        return RunDetails(
            run,
            start_input,
            attempts,
            msgspec.json.decode(decisions[0][1], type=Decision) if decisions else None,
            executions[0] if executions else None,
            blockers,
            kept_from(moments[0][0] if moments else None),
            launch,
            fanout,
        )

    # -- executions

    def execution_page(self, run_ids: Sequence[RunId]) -> Read[ExecutionsPage]:
        executions = yield from self.executions(run_ids)
        waiting = [run for one in executions for run in one.waiting.values()]
        return ExecutionsPage(executions, (yield from self.blockers(waiting)))

    def active_page(self, workflow_id: str | None, after: RunId | None, limit: int) -> Read[ExecutionsPage]:
        return (yield from self.execution_page((yield from self.active(workflow_id, after, limit))))

    def active(self, workflow_id: str | None, after: RunId | None, limit: int) -> Read[list[RunId]]:
        """Return executions that have not ended, oldest first."""
        if workflow_id is None:
            rows = yield Query("active_executions", (after or "", limit))
        else:
            rows = yield Query("active_of_workflow", (self._project, workflow_id, after or "", limit))
        return [row[0] for row in rows]

    def records(self, run_ids: Collection[RunId]) -> Read[list[Execution]]:
        """Return the executions that exist, oldest first."""
        rows = (yield Query("get_executions", (list(run_ids),))) if run_ids else ()
        return [shown_execution_of(row) for row in rows]

    def executions(self, run_ids: Collection[RunId]) -> Read[list[ExecutionDetails]]:
        """Return the executions that exist, oldest first, each with its steps."""
        records = yield from self.records(run_ids)
        own = yield from self.get([record.run_id for record in records])
        versions = yield from self.versions({(record.workflow_id, record.version) for record in records})
        found: list[ExecutionDetails] = []
        for record in records:
            run = own.runs.get(record.run_id)
            if run is not None:
                steps, waiting = yield from self._steps(record.run_id)
                version = versions.get((record.workflow_id, record.version))
                found.append(ExecutionDetails(record, run, own.start_input(run.id), steps, version, waiting))
        return found

    def _steps(self, run_id: RunId) -> Read[tuple[list[StepRecord], dict[RunId, Run]]]:
        """Return the steps of an execution, and their runs that have not begun."""
        rows = yield Query("all_states", (run_id,))
        states = {row[0]: shown_state_of(row[0], row[1:]) for row in rows}
        ended: dict[str, Row] = {row[0]: row[1:] for row in (yield Query("runs_of_steps", (run_id,)))}
        open_ids = [states[name].run_id for name, row in ended.items() if row[0] == _STORED_OPEN]
        shown = (yield from self.get([one for one in open_ids if one is not None])).runs
        steps = [record_of(name, state, _step_run(state, shown, ended.get(name))) for name, state in states.items()]
        return steps, {run.id: run for run in shown.values() if run.status in WAITING}

    def versions(self, wanted: Collection[VersionKey]) -> Read[dict[VersionKey, WorkflowVersion | RowUnreadable]]:
        """Return the versions that exist."""
        keys = list(wanted)
        values = (self._project, [name for name, _ in keys], [number for _, number in keys])
        rows = (yield Query("named_versions", values)) if keys else ()
        return {(row[0], row[1]): _readable_version(row) for row in rows}

    # -- what runs wait for

    def depth(self, counted: int) -> Read[Depth]:
        """Return the number of open runs by state, each counted up to a limit."""
        [(running, queued, scheduled)] = yield Query("depth", (counted,))
        return Depth(running, min(queued, counted), scheduled)

    def workers(self) -> Read[list[WorkerState]]:
        return [worker_of(row, _queues(row[_QUEUES])) for row in (yield AllWorkers())]

    def blockers(self, runs: Sequence[Run]) -> Read[Blockers]:
        """Return what the waiting runs may wait for, and the jobs of all these runs."""
        workers = yield from self.workers()
        job_ids = list(dict.fromkeys(run.job_id for run in runs))
        rows = (yield Query("get_jobs", (self._project, job_ids))) if job_ids else ()
        jobs, _ = read_rows(partial(job_of, self._project), rows)
        limits = yield from self._awaited([run.id for run in runs if run.status is Status.QUEUED])
        return Blockers(workers, {job.id: job for job in jobs}, limits)

    def _awaited(self, queued: list[RunId]) -> Read[dict[RunId, list[AwaitedLimit]]]:
        rows = (yield Query("awaited_limits", (queued,))) if queued else ()
        keys = list(dict.fromkeys(row[1] for row in rows))
        holders: dict[str, list[RunId]] = {}
        for key, run_id in (yield Query("limit_holders", (keys, _HOLDERS))) if keys else ():
            holders.setdefault(key, []).append(run_id)
        awaited: dict[RunId, list[AwaitedLimit]] = {}
        for run_id, key, capacity in rows:
            newest_first = sorted(holders.get(key, ()), reverse=True)
            awaited.setdefault(run_id, []).append(AwaitedLimit(key, capacity, newest_first))
        return awaited


def _before(only: RunFilter, among: RunListFilter) -> RunId | None:
    """Return the id before which runs are listed: ids begin with the time of the creation."""
    bounds: list[str] = [] if only.before is None else [only.before]
    if among.until is not None:
        bounds.append(first_id_at(Instant(among.until + 1)))
    if among.prefix:
        # One character longer than an id: `before` is exclusive, and an id may end in Z itself.
        bounds.append(among.prefix.ljust(ID_LENGTH + 1, "Z"))
    return RunId(min(bounds)) if bounds else None


def _step_run(state: StepState, shown: Mapping[RunId, Run], stored: Row | None) -> Row | None:
    """Return status, reason and error of a step's run; the status is the displayed one."""
    run = None if state.run_id is None else shown.get(state.run_id)
    return stored if run is None or stored is None else (run.status, *stored[1:])


def _readable_version(row: Row) -> WorkflowVersion | RowUnreadable:
    try:
        return version_of(row)
    except RowUnreadable as error:
        return error


def _queues(column: Any) -> Sequence[str]:
    """Decode queue names: SQLite stores them as JSON, PostgreSQL as an array."""
    if not isinstance(column, str):
        return tuple(column)
    try:
        return decode_names(column)
    except UNREADABLE:
        return ("unreadable",)
