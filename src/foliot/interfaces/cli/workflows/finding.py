"""Finding workflows and executions by what the command line says."""

from foliot.domain.run import Run
from foliot.ports.executions import WorkflowVersion
from foliot.service.services import Services


async def find_workflow(services: Services, name: str, version: int | None = None) -> WorkflowVersion:
    """Return the newest version of a workflow, or the given one."""
    return await services.workflows.record(name, version)


async def find_execution(services: Services, text: str) -> Run:
    """Return the run of an execution, named as runs are."""
    return await services.workflows.find_execution(text)
