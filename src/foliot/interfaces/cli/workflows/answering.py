"""What approve and reject have in common."""

from pathlib import Path

from foliot.errors import InvalidInput
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import tell, tell_json
from foliot.interfaces.cli.text import shown
from foliot.interfaces.cli.workflows.finding import find_execution
from foliot.wiring import Services

_LONGEST_NAME = 200


def answer(
    storage: str | None, config: Path | None, execution: str, step: str, by: str | None, *, approve: bool, as_json: bool
) -> None:
    """Answer a step that waits for a person, and say so."""
    if by is not None and not (by.strip() and by.isprintable() and len(by) <= _LONGEST_NAME):
        hint = f"Use 1 to {_LONGEST_NAME} characters."
        raise InvalidInput("the name is empty, not printable, or too long", hint=hint)

    async def tell_it(services: Services) -> str:
        run = await find_execution(services, execution)
        await services.workflows.answer(run.id, step, approve=approve, by=by)
        return run.id

    run_id = ask(storage, config, tell_it)
    word = "approved" if approve else "rejected"
    if as_json:
        tell_json({"execution_id": run_id, "step": step, "answer": word, "by": by})
    else:
        tell(shown(f"{word} {step} of {run_id}"))
