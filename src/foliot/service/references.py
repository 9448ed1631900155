"""Finding a run, an execution or a workflow by what a person writes."""

from typing import Final

from foliot.domain.ids import ID_LENGTH, JobId, RunId, is_id
from foliot.domain.run import Run
from foliot.domain.workflow.jobs import GRAPH
from foliot.errors import FoliotError, InvalidInput, NotFound, suggest
from foliot.ports.runs import RunFilter
from foliot.ports.storage import Storage
from foliot.service.paging import SUGGESTIONS, job_id_of, page_of_jobs

LAST: Final = "@last"
_SHORTEST: Final = 6
_RECENT: Final = 1_000
"""How many runs are searched for one whose id has a given end; the beginning of an id is looked up in the index."""


async def find_run(storage: Storage, text: str) -> Run:
    """Return the run with an id, or with six or more characters of its beginning or end.

    `@last` is the newest run of all, `report@last` the newest run of a job.
    """
    if text.endswith(LAST):
        return await _last(storage, text.removesuffix(LAST))
    word = text.upper()
    if is_id(word) or not _may_be_part(word):
        return await _exact(storage, RunId(word if is_id(word) else text))
    found = {run.id: run for run in [*await _beginning(storage, word), *await _ending(storage, word)]}
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} runs or more are named by {text!a}", hint=f"Such as: {', '.join(found)}.")
    if not found:
        raise NotFound("run", text)
    return found.popitem()[1]


async def find_execution(storage: Storage, text: str) -> Run:
    """Return the run of an execution, named as runs are."""
    run = await find_run(storage, text)
    if run.root is not None:
        raise InvalidInput(f"run {run.id} is a {run.role} of execution {run.root}", hint="Name the execution.")
    if await storage.executions.look([run.id]):
        return run
    jobs = await storage.jobs.get([run.job_id])
    if run.job_id in jobs and jobs[run.job_id].spec.kind == GRAPH:
        raise FoliotError(f"execution {run.id} has not begun: {run.status}", hint=f"Look at: foliot show {run.id}")
    raise InvalidInput(
        f'run {run.id} of job "{run.job_id}" is no execution', hint="List executions with: foliot workflows"
    )


async def nothing_named(storage: Storage, name: str, kinds: str) -> FoliotError:
    """Return the error for a name that no job and no schedule has, with a similar name if there is one."""
    jobs = await page_of_jobs(storage, None, SUGGESTIONS)
    schedules = await storage.schedules.page(limit=SUGGESTIONS)
    known = [*map(job_id_of, jobs), *(schedule.id for schedule in schedules)]
    hint = suggest(name, known, otherwise="List what there is with: foliot jobs, foliot schedules, foliot runs")
    return FoliotError(f"no {kinds} is named {name[:128]!a}", hint=hint)


async def _exact(storage: Storage, run_id: RunId) -> Run:
    found = await storage.runs.get([run_id])
    if run_id not in found:
        raise NotFound("run", run_id)
    return found[run_id]


async def _last(storage: Storage, job: str) -> Run:
    for run in await storage.runs.page(RunFilter(job_id=JobId(job) if job else None, limit=1)):
        return run
    if job and not await storage.jobs.get([JobId(job)]):
        known = [job_id_of(one) for one in await page_of_jobs(storage, None, SUGGESTIONS)]
        raise NotFound("job", job, known=known)
    raise FoliotError(
        f"job {job!a} has no run" if job else "there is no run", hint=f"Start one with: foliot trigger {job or 'JOB'}"
    )


def _may_be_part(word: str) -> bool:
    return _SHORTEST <= len(word) < ID_LENGTH and is_id(word.rjust(ID_LENGTH, "0"))


async def _beginning(storage: Storage, word: str) -> list[Run]:
    page = await storage.runs.page(RunFilter(before=RunId(word.ljust(ID_LENGTH, "Z")), limit=2))
    return [run for run in page if run.id.startswith(word)]


async def _ending(storage: Storage, word: str) -> list[Run]:
    return [run for run in await storage.runs.page(RunFilter(limit=_RECENT)) if run.id.endswith(word)]
