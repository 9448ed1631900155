"""foliot workflows rerun, mark, approve, reject, pause and resume: change executions and their steps by hand."""

from pathlib import Path
from typing import Final

import click

from foliot.errors import InvalidInput
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import NAMING, json_option, storage_options
from foliot.interfaces.cli.output import print_result
from foliot.interfaces.cli.render.text import escaped
from foliot.service.operations import Operations

_LONGEST_NAME: Final = 200


@click.command("rerun", epilog=NAMING)
@click.argument("execution", shell_complete=complete_ids("run"))
@click.argument("steps", nargs=-1)
@storage_options
@click.option("--same-version", is_flag=True, help="Use the version of EXECUTION instead of the newest.")
@json_option("one object")
def rerun(
    execution: str, steps: tuple[str, ...], storage: str | None, config: Path | None, same_version: bool, as_json: bool
) -> None:
    """Start a new execution that keeps the results of EXECUTION, and print its id.

    STEPS and the steps after them run again; without STEPS, the failed steps and those after them. The new execution
    uses the newest version of the workflow.
    """

    async def start_again(services: Operations) -> dict[str, str]:
        run_id = await services.queries.workflows.find_execution(execution)
        again = await services.workflows.rerun(run_id, *steps, same_version=same_version)
        return {"run_id": again, "rerun_of": run_id}

    done = with_services(storage, config, start_again)
    print_result(done["run_id"], done, as_json=as_json)


@click.command("mark", epilog=NAMING)
@click.argument("execution", shell_complete=complete_ids("run"))
@click.argument("step")
@storage_options
@json_option("one object")
def mark(execution: str, step: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Mark STEP of EXECUTION as a success, and print the id of the execution that continues.

    A waiting step becomes a success at once. If the execution is over, a new one continues after the step.
    """

    async def mark_step(services: Operations) -> dict[str, str]:
        run_id = await services.queries.workflows.find_execution(execution)
        return {"run_id": await services.workflows.mark_step(run_id, step), "marked_in": run_id, "step": step}

    done = with_services(storage, config, mark_step)
    print_result(done["run_id"], done, as_json=as_json)


def _answer_command(name: str, line: str, *, approve: bool) -> click.Command:
    """Return a command that answers a step which waits for a person."""

    @click.command(name, help=line, epilog=NAMING)
    @click.argument("execution", shell_complete=complete_ids("run"))
    @click.argument("step")
    @storage_options
    @click.option("--by", help="Name of the person who answers.")
    @json_option("one object")
    def command(
        execution: str, step: str, storage: str | None, config: Path | None, by: str | None, as_json: bool
    ) -> None:
        _check_name(by)

        async def answer_step(services: Operations) -> str:
            run_id = await services.queries.workflows.find_execution(execution)
            answer = services.workflows.approve if approve else services.workflows.reject
            await answer(run_id, step, by=by)
            return run_id

        run_id = with_services(storage, config, answer_step)
        word = "approved" if approve else "rejected"
        facts = {"execution_id": run_id, "step": step, "answer": word, "by": by}
        print_result(escaped(f"{word} {step} of {run_id}"), facts, as_json=as_json)

    return command


approve = _answer_command("approve", "Approve STEP of EXECUTION: it succeeds.", approve=True)
reject = _answer_command("reject", "Reject STEP of EXECUTION: it fails.", approve=False)


def _check_name(by: str | None) -> None:
    if by is not None and not (by.strip() and by.isprintable() and len(by) <= _LONGEST_NAME):
        hint = f"Use 1 to {_LONGEST_NAME} printable characters."
        raise InvalidInput("the name is empty, not printable, or too long", hint=hint)


@click.command("pause")
@click.argument("workflow", shell_complete=complete_ids("workflow"))
@click.argument("step")
@storage_options
@json_option("one object")
def pause(workflow: str, step: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Skip STEP in executions of WORKFLOW that reach it, and the steps that need its success."""
    _set_paused(storage, config, workflow, step, paused=True, as_json=as_json)


@click.command("resume")
@click.argument("workflow", shell_complete=complete_ids("workflow"))
@click.argument("step")
@storage_options
@json_option("one object")
def resume(workflow: str, step: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Run a paused STEP in executions of WORKFLOW again."""
    _set_paused(storage, config, workflow, step, paused=False, as_json=as_json)


def _set_paused(
    storage: str | None, config: Path | None, workflow: str, step: str, *, paused: bool, as_json: bool
) -> None:
    async def change(services: Operations) -> None:
        await services.workflows.pause_step(workflow, step, paused=paused)

    with_services(storage, config, change)
    word = "paused" if paused else "resumed"
    print_result(f"{word} {step} of {workflow}", {"id": workflow, "step": step, "done": word}, as_json=as_json)
