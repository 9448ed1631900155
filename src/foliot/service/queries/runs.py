"""Queries about runs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from foliot.domain.gate.decision import Decision
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.instant import from_datetime
from foliot.domain.run.logs import LogState
from foliot.domain.run.reference import RunById, read_reference
from foliot.domain.run.run import Status
from foliot.domain.tree.run_kind import OF_CHILDREN, RunKind, kind_of
from foliot.errors import NotFound
from foliot.ports.clock import Clock
from foliot.ports.pages import Matches, RunDetails, RunFilter, RunListFilter
from foliot.ports.storage import Storage
from foliot.service.explanation import ChainExplanation, ExecutionExplanation, FanoutExplanation, RunExplanation
from foliot.service.queries.actions import ActionQueries, ActionView
from foliot.service.queries.chain_view import ChainPartView, view_part
from foliot.service.queries.chains import chain_of
from foliot.service.queries.executions import ExecutionPage, execution_page
from foliot.service.queries.fanout_view import FanoutView, view_fanout
from foliot.service.queries.logs import Logs
from foliot.service.queries.run_view import AttemptView, RunView, view_attempt, view_run
from foliot.service.queries.timeline import Phase, timeline
from foliot.service.references import References
from foliot.service.why import explain_run

FAILED: Final = (Status.FAILED, Status.TIMEOUT)


class LogEndView(msgspec.Struct, frozen=True, kw_only=True):
    """How a log ends. The sizes are set if it is truncated and its bytes could be counted."""

    state: LogState
    seen: int | None
    stored: int | None


class RunPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one run."""

    run: RunView
    why: RunExplanation | ExecutionExplanation | FanoutExplanation | ChainExplanation
    attempts: list[AttemptView]
    timeline: list[Phase]
    """When it waited and when it ran, in order."""
    log: LogEndView
    given_back: int
    """How many starts with output were ended because their worker stopped."""
    execution: ExecutionPage | None
    """The execution that the run is, or is a step of."""
    step: str | None
    """The name of the step that the run is."""
    decision: Decision | None
    """The decision of its gate."""
    fanout: FanoutView | None
    """The progress of the fanout that the run is. None: it is none, or was not opened yet."""
    actions: list[ActionView]
    """What people and programs did with it, in order, as far back as the audit trail goes."""
    step_actions: dict[str, ActionView]
    """Of an execution: who approved, rejected or marked a step, by the name of the step."""
    chain: ChainPartView | None
    """The chain that the run is, or is a step of. None: neither, or no chain was armed."""


class RunQueries:
    def __init__(self, storage: Storage, logs: Logs, clock: Clock) -> None:
        self._queries = storage.queries
        self._actions = ActionQueries(storage.audit)
        self._references = References(storage)
        self._logs = logs
        self._clock = clock

    async def page(self, reference: str) -> RunPage:
        """Return everything about a run, given by its id, a part of it, `@last` or `JOB@last`."""
        parsed = read_reference(reference)
        found = await self._queries.run(parsed)
        if isinstance(found, Matches):
            raise await self._references.no_single_run(reference, parsed, found)
        return await self.page_of(found)

    async def page_of(self, details: RunDetails) -> RunPage:
        run, execution, fanout = details.run, details.execution, details.fanout
        log = await self._logs.summary(run, details.attempts, details.logs_kept_from)
        chain = await chain_of(self._queries, run)
        names = {state.worker.id: state.worker.name for state in details.blockers.workers}
        whole = None if execution is None else execution_page(execution, details.blockers)
        is_step = kind_of(run) is RunKind.STEP
        return RunPage(
            run=view_run(run, details.start_input, details.launch),
            why=explain_run(details, chain),
            attempts=[view_attempt(record) for record in details.attempts],
            timeline=timeline(run, details.attempts, names),
            log=LogEndView(**log.end._asdict()),
            given_back=log.given_back,
            execution=whole,
            step=run.child_key if is_step else None,
            decision=details.decision,
            fanout=None if fanout is None else view_fanout(fanout, run, self._clock.now()),
            actions=await self._actions.of_run(run.id),
            step_actions={} if whole is None or is_step else await self._actions.of_steps(whole.execution.steps),
            chain=None if chain is None else view_part(run, chain),
        )

    async def get(self, run_id: str) -> RunView:
        """Return only the run, with the user and the key it was started with."""
        found = await self._queries.find_run(RunById(RunId(run_id)))
        if isinstance(found, Matches):
            raise NotFound("run", run_id)
        return view_run(found.run, found.start_input, found.launch)

    async def named(self, reference: str) -> RunView:
        """Return only the run, given as for `page`."""
        parsed = read_reference(reference)
        found = await self._queries.find_run(parsed)
        if isinstance(found, Matches):
            raise await self._references.no_single_run(reference, parsed, found)
        return view_run(found.run, found.start_input, found.launch)

    async def newest(
        self,
        *,
        job: str | None = None,
        schedule: str | None = None,
        status: Status | None = None,
        root: str | None = None,
        failed: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        kind: RunKind | None = None,
        parent: str | None = None,
        children: bool = False,
        statuses: Sequence[Status] = (),
        tag: str | None = None,
        search: str = "",
        before: str | None = None,
        limit: int = 100,
    ) -> list[RunView]:
        """Return runs, newest first; with `root`, a reference as for `page`, only the runs in its tree, with `parent`
        only its children.

        Steps, items and reducers are left out, unless `children` is set or the job, the root, the parent or the kind
        asks for them. `failed`: those that failed or timed out. `statuses`: several, in place of `status`. `since`:
        those created then or later, `until`: then or earlier. `tag`: those of jobs with this tag. `search`: the
        beginning of the id. `before`: those after this run in the list.
        """
        only = RunFilter(
            job_id=None if job is None else JobId(job),
            schedule_id=None if schedule is None else ScheduleId(schedule),
            status=status,
            before=None if before is None else RunId(before),
            limit=limit,
            roots=not children and job is None and root is None and parent is None and kind not in OF_CHILDREN,
        )
        among = RunListFilter(
            statuses=FAILED if failed else statuses,
            since=None if since is None else from_datetime(since),
            until=None if until is None else from_datetime(until),
            kind=kind,
            tag=tag,
            prefix=search.upper(),
        )
        within = {name: read_reference(text) for name, text in (("root", root), ("parent", parent)) if text is not None}
        found = await self._queries.runs(only, **within, among=among)
        if isinstance(found, Matches):
            named = root or parent or ""
            raise await self._references.no_single_run(named, read_reference(named), found)
        if not found and before is None:
            await self._refuse_missing(job, schedule)
        return [view_run(run) for run in found]

    async def children(self, run_id: str, *, after: str | None = None, limit: int = 100) -> list[RunView]:
        """Return the children of a run in the order of their creation, those after `after`."""
        found = await self._queries.children(RunId(run_id), after=None if after is None else RunId(after), limit=limit)
        if not found:
            await self.get(run_id)
        return [view_run(run) for run in found]

    async def attempts(self, run_id: str) -> list[AttemptView]:
        """Return every finished attempt of a run, in order."""
        found = await self._queries.attempts(RunId(run_id))
        if not found:
            await self.get(run_id)
        return [view_attempt(record) for record in found]

    async def _refuse_missing(self, job: str | None, schedule: str | None) -> None:
        if job is not None and await self._queries.job(JobId(job)) is None:
            raise await self._references.no_job(job)
        if schedule is not None and await self._queries.schedule(ScheduleId(schedule)) is None:
            raise await self._references.no_schedule(schedule)

    async def unserved_queue(self, run_id: str) -> str | None:
        """Return the queue of a run if no worker of that queue is alive, else None."""
        found = await self._queries.run(RunById(RunId(run_id)))
        if isinstance(found, Matches):
            raise NotFound("run", run_id)
        queue = found.run.queue
        served = any(state.takes_runs and queue in state.worker.queues for state in found.blockers.workers)
        return None if served else queue
