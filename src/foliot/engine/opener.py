"""Begins executions: a claimed run of a workflow becomes the runs of its first steps."""

import logging
from collections.abc import Mapping

from foliot.domain.ids import IdSource, JobId, RunId
from foliot.domain.instant import later
from foliot.domain.job import Job, JobSpec, Options
from foliot.domain.lease import Claim
from foliot.domain.outcome import Cancelled, Failure, Reason
from foliot.domain.payload import UNREADABLE, decode_payload
from foliot.domain.workflow.execution import Execution, Opening, Progress
from foliot.domain.workflow.keeping import with_kept
from foliot.domain.workflow.passage import Passage, Plan
from foliot.domain.workflow.progress import StepState, begin, first_states, rerun_states
from foliot.domain.workflow.spec import GRAPH
from foliot.domain.workflow.start import Start, read_params
from foliot.engine.guide import Guide
from foliot.engine.hooks import Tell, nobody
from foliot.engine.plans import Plans
from foliot.errors import FoliotError, InvalidRun, StorageUnavailable
from foliot.ports.storage import Storage

log = logging.getLogger(__name__)


class Opener:
    """Turns claims of workflows into executions."""

    def __init__(self, storage: Storage, ids: IdSource, plans: Plans, tell: Tell = nobody) -> None:
        self._storage = storage
        self._ids = ids
        self._plans = plans
        self._tell = tell

    async def open(self, claim: Claim, job: Job, options: Options) -> Failure | Cancelled | None:
        """Begin the execution that the claim is about. An outcome says why there is none; the lease is then ours."""
        try:
            return await self._open(claim, job, options)
        except StorageUnavailable:
            # Nobody holds the lease any more: the next renewal gives it back, and the run is opened then.
            log.exception("execution_not_opened", extra={"run": claim.run_id, "job": job.id})
            return None

    async def _open(self, claim: Claim, job: Job, options: Options) -> Failure | Cancelled | None:
        try:
            opening = await self._opening(claim, job, options)
        except StorageUnavailable:
            raise
        except (FoliotError, *UNREADABLE) as error:
            return Failure(str(error), Reason.LAUNCH_FAILED, retryable=False)
        if await self._storage.executions.open([opening]):
            return await self._refused(claim)
        self._tell(Progress(claim.run_id, job.id, opening.states, opening.ended is not None))
        return None

    async def _refused(self, claim: Claim) -> Cancelled | None:
        """Cancel the run if its workflow was deleted. Otherwise the lease was lost, or the workflow was deployed again
        or renamed: the next renewal gives the lease back, and the run is opened then."""
        job = (await self._storage.jobs.get([claim.job_id])).get(claim.job_id)
        if job is not None and job.spec.kind == GRAPH:
            return None
        run = (await self._storage.runs.get([claim.run_id])).get(claim.run_id)
        return Cancelled() if run is not None and run.job_id == claim.job_id else None

    async def _opening(self, claim: Claim, job: Job, options: Options) -> Opening:
        start = Start.read(claim.overrides, job.spec.spec)
        plan = await self._plans.get(job.id, start.version, job.revision)
        params = read_params(plan.spec, decode_payload(claim.payload))
        jobs = await self._named_jobs(plan)
        states = await self._states(plan, start)
        execution = Execution(
            run_id=claim.run_id,
            workflow_id=job.id,
            version=start.version,
            state=0,
            unresolved=sum(state.result is None for state in states.values()),
            params=params,
            jobs=jobs,
            tick=claim.tick,
            opened_at=claim.started_at,
            deadline=None if options.timeout is None else later(claim.started_at, options.timeout),
            revision=job.revision,
            scheduled_for=claim.scheduled_for,
        )
        return await self._begun(claim, plan, execution, states, start.rerun_of)

    async def _begun(
        self,
        claim: Claim,
        plan: Plan,
        execution: Execution,
        states: Mapping[str, StepState],
        rerun_of: RunId | None,
    ) -> Opening:
        """What follows at once: the runs of the first steps, or the end where nothing is to be run."""
        passage = Passage(plan, execution, lambda: RunId(self._ids.make(claim.started_at)), claim.started_at)
        guide = Guide(self._storage, plan, execution, passage, states, rerun_of)
        await guide.tell(await guide.take(begin(plan.graph, states)))
        return Opening(claim, execution, {**states, **passage.changed}, passage.runs, await guide.ending())

    async def _named_jobs(self, plan: Plan) -> Mapping[JobId, JobSpec]:
        named = {step.job for step in plan.steps.values() if step.job is not None}
        found = await self._storage.jobs.get(named) if named else {}
        return {job_id: job.spec for job_id, job in found.items()}

    async def _states(self, plan: Plan, start: Start) -> Mapping[str, StepState]:
        """All steps open, or, when another execution is repeated, only those from the named ones on."""
        if start.rerun_of is None:
            return first_states(plan.graph)
        before = await self._storage.executions.states(start.rerun_of)
        if before.keys() != plan.steps.keys():
            raise InvalidRun(
                f"execution {start.rerun_of}, whose results were to be kept, is no longer stored",
                hint="Start the workflow anew, or keep executions longer.",
            )
        asking = {edge.parent for edges in plan.graph.parents.values() for edge in edges if edge.test is not None}
        found = await self._storage.executions.facts(start.rerun_of, asking) if asking else {}
        facts = {name: known.facts for name, known in with_kept(found, start.kept).items()}
        return rerun_states(plan.graph, before, facts, start=start.steps, marked=start.marked)
