"""The commands approve and reject, which differ in what they say."""

from pathlib import Path

import click

from foliot.errors import InvalidInput
from foliot.interfaces.cli.ids import complete_ids
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.references import NAMING
from foliot.interfaces.cli.speaking import tell_done
from foliot.interfaces.cli.text import shown
from foliot.service.services import Services

_LONGEST_NAME = 200


def answering(name: str, line: str, *, approve: bool) -> click.Command:
    """A command that answers a step that waits for a person, and says so."""

    @click.command(name, help=line, epilog=NAMING)
    @click.argument("execution", shell_complete=complete_ids("run"))
    @click.argument("step")
    @storage_options
    @click.option("--by", help="Who says so.")
    @json_option("one object")
    def command(
        execution: str, step: str, storage: str | None, config: Path | None, by: str | None, as_json: bool
    ) -> None:
        _check_name(by)

        async def answer_step(services: Services) -> str:
            run = await services.workflows.find_execution(execution)
            answer = services.workflows.approve if approve else services.workflows.reject
            await answer(run.id, step, by=by)
            return run.id

        run_id = ask(storage, config, answer_step)
        word = "approved" if approve else "rejected"
        facts = {"execution_id": run_id, "step": step, "answer": word, "by": by}
        tell_done(shown(f"{word} {step} of {run_id}"), facts, as_json=as_json)

    return command


def _check_name(by: str | None) -> None:
    if by is not None and not (by.strip() and by.isprintable() and len(by) <= _LONGEST_NAME):
        hint = f"Use 1 to {_LONGEST_NAME} characters."
        raise InvalidInput("the name is empty, not printable, or too long", hint=hint)
