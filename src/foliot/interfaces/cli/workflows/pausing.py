"""The action of pausing and resuming steps."""

from pathlib import Path

from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import tell_done
from foliot.service.services import Services


def pause(storage: str | None, config: Path | None, workflow: str, step: str, *, paused: bool, as_json: bool) -> None:
    """Pause or resume a step, and print that."""

    async def do(services: Services) -> None:
        await services.workflows.pause_step(workflow, step, paused=paused)

    ask(storage, config, do)
    word = "paused" if paused else "resumed"
    tell_done(f"{word} {step} of {workflow}", {"id": workflow, "step": step, "done": word}, as_json=as_json)
