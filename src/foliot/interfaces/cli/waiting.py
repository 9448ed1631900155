"""A run that was started: its id, and for whoever waits its lines and how it ended."""

from foliot.domain.ids import RunId
from foliot.domain.run.run import Status
from foliot.domain.tree.tree import TREES_QUEUE
from foliot.interfaces.cli.speaking import say, surely, tell, tell_done, tell_json, warn
from foliot.interfaces.cli.step_lines import follow_run
from foliot.interfaces.cli.text import shown
from foliot.interfaces.cli.words import last_line, status
from foliot.service.queries.documents import as_json
from foliot.service.queries.run_view import RunView
from foliot.service.services import Services


async def see_through(services: Services, run_id: RunId, *, wait: bool, follow: bool, is_json: bool) -> int:
    """Tell the id of a run that was started, and its end to whoever waits for it. The exit code."""
    if not (wait or follow):
        tell_done(run_id, {"run_id": run_id}, as_json=is_json)
        return 0
    with surely(run_id):
        (say if follow or is_json else tell)(run_id)
    await _warn_without_worker(services, run_id)
    if follow:
        await follow_run(services, await services.runs.record(run_id))
    return _tell_end(await services.runs.wait(run_id), is_json=is_json)


async def _warn_without_worker(services: Services, run_id: RunId) -> None:
    queue = await services.queries.runs.unserved_queue(run_id)
    if queue is not None:
        missing = "no coordinator" if queue == TREES_QUEUE else f'no worker of queue "{queue}"'
        warn(f"{missing} is alive: the run waits", "Start one with: foliot serve")


def _tell_end(run: RunView, *, is_json: bool) -> int:
    """Print how a run ended. Return the exit code: 1 unless it is a success."""
    if is_json:
        tell_json(as_json(run))
    else:
        error = f": {last_line(run.error_message)}" if run.error_message else ""
        say(shown(f"{status(run)}{error}"))
    return 0 if run.status is Status.SUCCESS else 1
