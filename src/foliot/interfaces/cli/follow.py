"""Reporting a run that a command has started: its id, and with --wait or --follow its output and result."""

from foliot.domain.run.run import Status
from foliot.domain.tree.run_kind import FanoutRole
from foliot.interfaces.cli.fanout_progress import follow_fanout
from foliot.interfaces.cli.outage import OUTAGES, wait_out
from foliot.interfaces.cli.output import or_as_note, print_json, print_line, print_note, print_result, print_warning
from foliot.interfaces.cli.render.explanation import explain, missing_worker, worker_command
from foliot.interfaces.cli.render.format import last_line, status
from foliot.interfaces.cli.render.log import TextPrinter, print_log
from foliot.interfaces.cli.render.step_log import StepTextPrinter, print_steps
from foliot.interfaces.cli.render.text import escaped
from foliot.service import explanation as why
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json
from foliot.service.queries.run_view import RunView


async def report_started_run(services: Operations, run_id: str, *, wait: bool, follow: bool, is_json: bool) -> int:
    """Print the id of a started run; with `wait` or `follow` also its result. Return the exit code."""
    if not (wait or follow):
        print_result(run_id, {"run_id": run_id}, as_json=is_json)
        return 0
    with or_as_note(run_id):
        (print_note if follow or is_json else print_line)(run_id)
    await _warn_if_it_waits(services, run_id)
    if follow:
        await _follow_output(services, await services.queries.runs.named(run_id))
    return _print_result(await _wait(services, run_id), is_json=is_json)


async def _wait(services: Operations, run_id: str) -> RunView:
    while True:
        try:
            return await services.runs.wait(run_id)
        except OUTAGES as error:
            await wait_out(error)


async def _warn_if_it_waits(services: Operations, run_id: str) -> None:
    """Say why a run cannot start now, because the command may then print nothing for a long time."""
    queue = await services.queries.runs.unserved_queue(run_id)
    if queue is not None:
        hint = f"Start one with: {worker_command(queue)}"
        print_warning(f"no {missing_worker(queue)} is alive: the run waits", hint, code="no_worker")
        return
    reason = (await services.queries.runs.page(run_id)).why
    if isinstance(reason, why.NoFittingWorker | why.WaitsForLimit | why.NoFreeSlot | why.WaitsForGate):
        print_warning(explain(reason), f"See: foliot explain {run_id}", code="run_waits")


async def _follow_output(services: Operations, run: RunView) -> None:
    """Print the output of a run or of the steps of a tree, or the progress of a fanout, until it is over."""
    if run.role is FanoutRole.PARENT:
        await follow_fanout(services, run.id)
        return
    names = await services.queries.workflows.step_names(run.id)
    if names is None:
        await print_log(services, run.id, TextPrinter(), is_following=True)
    else:
        await print_steps(services, run.id, StepTextPrinter(names), is_following=True)


def _print_result(run: RunView, *, is_json: bool) -> int:
    """Print how a run ended. Return the exit code: 1 unless it succeeded, or succeeded in part."""
    if is_json:
        print_json(as_json(run))
    else:
        error = f": {last_line(run.error_message)}" if run.error_message else ""
        print_note(escaped(f"{status(run)}{error}"))
    return 0 if run.status in (Status.SUCCESS, Status.PARTIAL) else 1
