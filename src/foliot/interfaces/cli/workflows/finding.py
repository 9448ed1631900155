"""Which workflow, and which execution, is meant."""

from foliot.domain.ids import JobId
from foliot.domain.run import Run
from foliot.domain.workflow.jobs import GRAPH
from foliot.errors import FoliotError, InvalidInput, NotFound, suggest
from foliot.interfaces.cli.references import find_run
from foliot.ports.executions import WorkflowVersion
from foliot.service.paging import workflow_id_of
from foliot.wiring import Services


async def find_workflow(services: Services, name: str, version: int | None = None) -> WorkflowVersion:
    """The newest version of a workflow, or the one that is named."""
    try:
        return await services.workflows.get(name, version)
    except NotFound:
        if version is None or not await services.workflows.exists(name):
            raise await _no_workflow(services, name) from None
        newest = (await services.workflows.get(name)).version
        raise NotFound("workflow", f"{name} version {version}", hint=f"The newest version is {newest}.") from None


async def find_execution(services: Services, text: str) -> Run:
    """The run of the execution that is named as runs are."""
    run = await find_run(services, text)
    if run.root is not None:
        raise InvalidInput(f"run {run.id} is a {run.role} of execution {run.root}", hint="Name the execution.")
    if await services.storage.executions.look([run.id]):
        return run
    jobs = await services.storage.jobs.get([run.job_id])
    if run.job_id in jobs and jobs[run.job_id].spec.kind == GRAPH:
        raise FoliotError(f"execution {run.id} has not begun: {run.status}", hint=f"Look at: foliot show {run.id}")
    raise InvalidInput(
        f'run {run.id} of job "{run.job_id}" is no execution', hint="List executions with: foliot workflows"
    )


async def _no_workflow(services: Services, name: str) -> NotFound:
    known = [workflow_id_of(one) for one in await services.workflows.page(limit=1_000)]
    is_job = bool(await services.storage.jobs.get([JobId(name)]))
    hint = f"It is a job: foliot show {name}" if is_job else "List workflows with: foliot workflows"
    return NotFound("workflow", name, hint=suggest(name, known, otherwise=hint))
