"""What runs that have not begun wait for, and until when."""

from collections.abc import Collection, Mapping
from typing import Final

from foliot.domain.ids import JobId, RunId
from foliot.domain.job import Job
from foliot.domain.run import BEGUN, Run, Status
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.passage import Plan, step_as_job
from foliot.interfaces.cli.gate_words import waits_for_gate
from foliot.interfaces.cli.why import Crowd, why
from foliot.ports.runs import RunFilter
from foliot.service.paging import known_jobs, known_versions
from foliot.service.services import Services
from foliot.service.views import RunView, WorkerView, view_job, view_run

_WAITING: Final = (Status.SCHEDULED, Status.QUEUED)
_MOST_READY: Final = 1_000
"""Behind so many it does not matter what else a run waits for."""
_MOST_ASKED: Final = 20
"""Of so many jobs it is looked up who has their places."""
_MOST_NAMED: Final = 6


async def waits_of(services: Services, run_ids: Collection[str]) -> dict[str, str]:
    """In words, for those of the runs that have not begun: a gate, a retry, a limit, a worker, or their moment."""
    found = await services.storage.runs.get([RunId(run_id) for run_id in run_ids]) if run_ids else {}
    waiting = [run for run in found.values() if run.status in _WAITING]
    if not waiting:
        return {}
    jobs = {**await _jobs(services, waiting), **await _steps(services, waiting)}
    workers = await services.overview.workers()
    crowds = await _crowds(services, [run for run in waiting if run.status is Status.QUEUED])
    return {
        run.id: _asks_gate(view_run(run), jobs.get(run.id))
        or _why(view_run(run), jobs.get(run.id), workers, crowds.get(run.id))
        for run in waiting
    }


async def _jobs(services: Services, runs: Collection[Run]) -> dict[RunId, Job]:
    """What the jobs of runs say today."""
    found = await known_jobs(services.storage, {run.job_id for run in runs})
    return {run.id: found[run.job_id] for run in runs if run.job_id in found}


async def _steps(services: Services, runs: Collection[Run]) -> dict[RunId, Job]:
    """What the steps among these runs do: what the versions say that their executions began with."""
    roots = {run.root for run in runs if run.root is not None}
    found = await services.storage.executions.look(roots) if roots else {}
    executions = {root: execution for root, execution in found.items() if execution.error is None}
    named = {(execution.workflow_id, execution.version) for execution in executions.values()}
    versions = await known_versions(services.storage, named) if named else {}
    plans = {name: Plan.of(version.spec) for name, version in versions.items()}
    known = [(run, executions[run.root]) for run in runs if run.root in executions]
    steps = {run.id: _step(run, execution, plans) for run, execution in known}
    return {run_id: job for run_id, job in steps.items() if job is not None}


def _step(run: Run, execution: Execution, plans: Mapping[tuple[str, int | None], Plan]) -> Job | None:
    plan = plans.get((execution.workflow_id, execution.version))
    return None if plan is None else step_as_job(plan, execution, run.item or "", run.job_id)


def _asks_gate(run: RunView, job: Job | None) -> str:
    """A gate is asked once, before the first try; a run that it has let pass is queued."""
    if run.unreadable or job is None or job.spec.gate is None or run.attempt or run.status is not Status.SCHEDULED:
        return ""
    return waits_for_gate(run, job.spec.gate)


def _why(run: RunView, job: Job | None, workers: list[WorkerView], crowd: Crowd | None) -> str:
    return why(run, None if job is None else view_job(job), workers, crowd)


async def _crowds(services: Services, queued: Collection[Run]) -> Mapping[RunId, Crowd]:
    """Who is before each of them, where that can be told."""
    ready = {queue: await services.storage.runs.ready(queue, _MOST_READY) for queue in {run.queue for run in queued}}
    known = [run for run in queued if run.id in ready[run.queue] or len(ready[run.queue]) < _MOST_READY]
    kept_out = [run for run in known if run.id not in ready[run.queue]]
    asked = list(dict.fromkeys(run.job_id for run in kept_out))[:_MOST_ASKED]
    begun = {job_id: await _begun(services, job_id) for job_id in asked}
    crowds = {run.id: Crowd(is_ready=True) for run in known}
    return crowds | {run.id: Crowd(is_ready=False, begun=begun.get(run.job_id, ())) for run in kept_out}


async def _begun(services: Services, job_id: JobId) -> tuple[str, ...]:
    pages = [
        await services.storage.runs.page(RunFilter(job_id=job_id, status=status, limit=_MOST_NAMED)) for status in BEGUN
    ]
    return tuple(run.id for page in pages for run in page)
