"""Finds a run, an execution or a workflow by the text that a person wrote; errors suggest similar names."""

from foliot.domain.chain.step import STEP_TRIGGER
from foliot.domain.ids import JobId
from foliot.domain.run.reference import NewestRun, RunById, RunByPart, RunReference, read_reference
from foliot.domain.run.run import Run
from foliot.domain.tree.run_kind import RunKind, kind_of
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.spec import GRAPH
from foliot.errors import FoliotError, InvalidInput, NotFound, suggest
from foliot.ports.chains import ChainFilter
from foliot.ports.pages import ExecutionDetails, Matches
from foliot.ports.storage import Storage
from foliot.service.paging import SUGGESTIONS, job_id_of, page_of_jobs, page_of_workflows, workflow_id_of


class References:
    """Finds runs by reference, and builds the errors for names that do not exist."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def run(self, text: str) -> Run:
        """Return the run with an id, or with six or more characters of its beginning or end.

        `@last` is the newest run of all, `report@last` the newest run of a job.
        """
        reference = read_reference(text)
        found = await self._storage.queries.find_run(reference)
        if isinstance(found, Matches):
            raise await self.no_single_run(text, reference, found)
        return found.run

    async def execution(self, text: str) -> Run:
        """Return the run of an execution, named as runs are."""
        reference = read_reference(text)
        found = await self._storage.queries.run(reference)
        if isinstance(found, Matches):
            raise await self.no_single_run(text, reference, found)
        await self.checked_execution(found.run, found.execution)
        return found.run

    async def chain(self, text: str) -> str:
        """Return the id or the run of a chain, named as runs are. `@last` is the newest chain, `disk@last` that of a
        class. A step names its chain."""
        match read_reference(text):
            case NewestRun(class_id):
                newest = (await self._storage.queries.chains_page(ChainFilter(class_id=class_id, limit=1))).chains
                if not newest:
                    raise NotFound("chain", text, message="no chain was armed")
                return newest[0].run_id
            case RunByPart():
                run = await self.run(text)
                return run.parent_id if run.trigger == STEP_TRIGGER and run.parent_id is not None else run.id
        return text

    async def checked_execution(self, run: Run, details: ExecutionDetails | None) -> Execution:
        """Return the execution that a run is. Refuse steps, and runs that are no execution."""
        if run.parent_id is not None:
            whole = "step of execution" if kind_of(run) is RunKind.STEP else "part of fanout"
            raise InvalidInput(f"run {run.id} is a {whole} {run.parent_id}", hint="Name the execution.")
        if details is not None:
            return details.execution
        jobs = await self._storage.definitions.get_jobs([run.job_id])
        if run.job_id in jobs and jobs[run.job_id].spec.kind == GRAPH:
            raise FoliotError(f"execution {run.id} has not begun: {run.status}", hint=f"See: foliot show {run.id}")
        raise InvalidInput(
            f'run {run.id} of job "{run.job_id}" is not an execution', hint="List executions with: foliot workflows"
        )

    async def no_single_run(self, text: str, reference: RunReference, matches: Matches) -> FoliotError:
        """Return the error for a reference that matches no run or several."""
        match reference:
            case NewestRun(job_id):
                return await self._no_newest(job_id)
            case RunById():
                return await self._no_run(text)
        found = matches.run_ids
        if not found:
            return await self._no_run(text)
        return InvalidInput(f"{text!a} matches more than one run", hint=f"For example: {', '.join(found)}.")

    async def _no_run(self, text: str) -> NotFound:
        """Return the error for text that matches no run. If it is the name of a job, its newest run may be meant."""
        if not await self._storage.definitions.get_jobs([JobId(text)]):
            return NotFound("run", text)
        return NotFound("run", text, hint=f"It is a job. Name its newest run: {text}@last")

    async def _no_newest(self, job_id: JobId | None) -> NotFound:
        if job_id is None:
            return NotFound("run", "@last", message="no run exists", hint="Start one with: foliot trigger JOB")
        if not await self._storage.definitions.get_jobs([job_id]):
            return await self.no_job(job_id)
        hint = f"Start one with: foliot trigger {job_id}"
        return NotFound("run", f"{job_id}@last", message=f"job {job_id!a} has no run", hint=hint)

    async def no_job(self, job_id: str) -> NotFound:
        return NotFound("job", job_id, known=await self._jobs())

    async def no_schedule(self, schedule_id: str) -> NotFound:
        return NotFound("schedule", schedule_id, known=await self._schedules())

    async def no_workflow(self, workflow_id: str) -> NotFound:
        known = [workflow_id_of(one) for one in await page_of_workflows(self._storage, None, SUGGESTIONS)]
        is_job = bool(await self._storage.definitions.get_jobs([JobId(workflow_id)]))
        hint = f"It is a job: foliot show {workflow_id}" if is_job else "List workflows with: foliot workflows"
        return NotFound("workflow", workflow_id, hint=suggest(workflow_id, known, otherwise=hint))

    async def nothing(self, name: str, kinds: str) -> NotFound:
        """Return the error for a name that no job, schedule or run has."""
        known = [*await self._jobs(), *await self._schedules()]
        hint = suggest(name, known, otherwise="List the names with: foliot jobs, foliot schedules, foliot runs")
        return NotFound(kinds, name, message=f"no {kinds} is named {name[:128]!a}", hint=hint)

    async def _jobs(self) -> list[str]:
        return [job_id_of(job) for job in await page_of_jobs(self._storage, None, SUGGESTIONS)]

    async def _schedules(self) -> list[str]:
        return [schedule.id for schedule in (await self._storage.queries.schedules(limit=SUGGESTIONS)).schedules]
