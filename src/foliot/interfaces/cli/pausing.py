"""What pause and resume have in common."""

from foliot.domain.ids import JobId
from foliot.errors import FoliotError, NotFound
from foliot.interfaces.cli.each import Deed, Done
from foliot.interfaces.cli.references import nothing
from foliot.wiring import Services


def pausing(paused: bool) -> Deed:
    """Pause or resume a job, which means all its schedules, or one schedule."""

    async def deed(services: Services, name: str) -> Done:
        word = "paused" if paused else "resumed"
        schedules = await _schedules(services, name, paused)
        return {"id": name, "schedules": schedules, "done": word, "text": f"{word} {', '.join(schedules)}"}

    return deed


async def _schedules(services: Services, name: str, paused: bool) -> list[str]:
    if await services.storage.jobs.get([JobId(name)]):
        schedules = await services.registrar.pause_job(name, paused)
        if not schedules:
            raise FoliotError(f"job {name!a} has no schedule", hint="Only what fires by itself can be paused.")
        return list(schedules)
    try:
        await services.registrar.pause_schedule(name, paused)
    except NotFound:
        raise await nothing(services, name, "job or schedule") from None
    return [name]
