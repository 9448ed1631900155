"""What pause and resume of steps have in common."""

from pathlib import Path

from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import tell_done
from foliot.interfaces.cli.workflows.finding import find_workflow
from foliot.wiring import Services


def pause(storage: str | None, config: Path | None, workflow: str, step: str, *, paused: bool, as_json: bool) -> None:
    """Pause or resume a step, and say so."""

    async def do(services: Services) -> None:
        await find_workflow(services, workflow)
        await services.workflows.pause_step(workflow, step, paused=paused)

    ask(storage, config, do)
    word = "paused" if paused else "resumed"
    tell_done(f"{word} {step} of {workflow}", {"id": workflow, "step": step, "done": word}, as_json=as_json)
