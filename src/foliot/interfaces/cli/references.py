"""Which run is meant: its id, the beginning or end of it, or the last one of a job."""

from typing import Final

from foliot.domain.ids import ID_LENGTH, JobId, RunId, is_id
from foliot.domain.run import Run
from foliot.errors import FoliotError, InvalidInput, NotFound, suggest
from foliot.ports.runs import RunFilter
from foliot.service.paging import job_id_of, page_of_jobs
from foliot.wiring import Services

LAST: Final = "@last"
NAMING: Final = "A run is named by its id, by six or more characters of its beginning or end, by @last, or by JOB@last."
_SHORTEST: Final = 6
_RECENT: Final = 1_000
"""How far is looked for a run whose id ends so; a beginning is looked up in the index."""


async def find_run(services: Services, text: str) -> Run:
    """The run that `text` names. `@last` is the newest of all, `report@last` the newest of a job."""
    if text.endswith(LAST):
        return await _last(services, text.removesuffix(LAST))
    word = text.upper()
    if is_id(word) or not _may_be_part(word):
        return await services.desk.get(word if is_id(word) else text)
    found = {run.id: run for run in [*await _beginning(services, word), *await _ending(services, word)]}
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} runs or more are named by {text!a}", hint=f"Such as: {', '.join(found)}.")
    if not found:
        raise NotFound("run", text)
    return found.popitem()[1]


async def _last(services: Services, job: str) -> Run:
    only = RunFilter(job_id=JobId(job) if job else None, limit=1)
    for run in await services.desk.page(only):
        return run
    if job and not await services.storage.jobs.get([JobId(job)]):
        raise await services.registrar.no_job(job)
    raise FoliotError(
        f"job {job!a} has no run" if job else "there is no run", hint=f"Start one with: foliot trigger {job or 'JOB'}"
    )


def _may_be_part(word: str) -> bool:
    return _SHORTEST <= len(word) < ID_LENGTH and is_id(word.rjust(ID_LENGTH, "0"))


async def _beginning(services: Services, word: str) -> list[Run]:
    bound = RunId(word.ljust(ID_LENGTH, "Z"))
    page = await services.desk.page(RunFilter(before=bound, limit=2))
    return [run for run in page if run.id.startswith(word)]


async def _ending(services: Services, word: str) -> list[Run]:
    return [run for run in await services.desk.page(RunFilter(limit=_RECENT)) if run.id.endswith(word)]


async def nothing(services: Services, name: str, kinds: str) -> FoliotError:
    """Nothing is named so; what was probably meant may be a job or a schedule."""
    jobs = await page_of_jobs(services.storage, None, _RECENT)
    schedules = await services.storage.schedules.page(limit=_RECENT)
    known = [*map(job_id_of, jobs), *(schedule.id for schedule in schedules)]
    hint = suggest(name, known, otherwise="List what there is with: foliot jobs, foliot schedules, foliot runs")
    return FoliotError(f"no {kinds} is named {name[:128]!a}", hint=hint)
