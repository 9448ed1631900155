"""Running one command on several ids. Each is tried, whether others fail or not."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from foliot.errors import FoliotError
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import complain, tell_done
from foliot.interfaces.cli.text import shown
from foliot.service.services import Services

Result = dict[str, object]
"""What was done, for programs; `text` is for people."""
Action = Callable[[Services, str], Awaitable[Result]]


def run_batch(storage: str | None, config: Path | None, names: Sequence[str], action: Action, *, as_json: bool) -> int:
    """Run the action on each name and print the result. Return the exit code: 1 if one of them failed."""

    async def run(services: Services) -> int:
        return max([await _run(services, name, action, as_json) for name in dict.fromkeys(names)], default=0)

    return ask(storage, config, run)


async def _run(services: Services, name: str, action: Action, as_json: bool) -> int:
    try:
        done = await action(services, name)
    except FoliotError as error:
        complain(error.message, error.hint)
        return 1
    text = shown(done["text"])
    tell_done(text, {key: value for key, value in done.items() if key != "text"}, as_json=as_json)
    return 0
