"""Waiting for the end of a run, and telling how it ended."""

from foliot.domain.ids import RunId
from foliot.domain.run import Run, Status
from foliot.interfaces.cli.speaking import say, tell_json, warn
from foliot.interfaces.cli.text import shown
from foliot.interfaces.cli.words import last_line, status
from foliot.service.views import as_json, view_run
from foliot.wiring import Services


async def warn_without_worker(services: Services, run_id: str) -> None:
    run = await services.desk.get(run_id)
    workers = await services.overview.workers()
    if not any(worker.is_alive and run.queue in worker.queues for worker in workers):
        warn(f'no worker of queue "{run.queue}" is alive: the run waits', "Start one with: foliot serve")


async def wait_for(services: Services, run_id: str) -> Run:
    """The run, when it is over."""
    [run] = await services.presence.ended(RunId(run_id))
    return run


def tell_end(run: Run, is_json: bool) -> int:
    """Say how a run ended. The exit code is 1 unless it is a success."""
    view = view_run(run)
    if is_json:
        tell_json(as_json(view))
    else:
        error = f": {last_line(view.error_message)}" if view.error_message else ""
        say(shown(f"{status(view)}{error}"))
    return 0 if run.status is Status.SUCCESS else 1
