"""The action of pause and resume."""

from foliot.interfaces.cli.batch import Action, Result
from foliot.service.services import Services


def pausing(paused: bool) -> Action:
    """Return the action that pauses or resumes a schedule, or all schedules of a job."""

    async def pause(services: Services, name: str) -> Result:
        word = "paused" if paused else "resumed"
        schedules = await services.schedules.pause_all(name, paused)
        return {"id": name, "schedules": schedules, "done": word, "text": f"{word} {', '.join(schedules)}"}

    return pause
