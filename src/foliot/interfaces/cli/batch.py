"""Running one action on several ids: each is tried, also when others fail."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from foliot.errors import FoliotError
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.output import print_failure, print_result
from foliot.interfaces.cli.render.text import escaped
from foliot.service.operations import Operations

Result = dict[str, object]
"""Values for programs; the key `text` is the line for people."""
Action = Callable[[Operations, str], Awaitable[Result]]


def run_batch(storage: str | None, config: Path | None, names: Sequence[str], action: Action, *, as_json: bool) -> int:
    """Run the action on each name and print the result. Return the exit code: 1 if one of them failed."""

    async def run(services: Operations) -> int:
        return max([await _run(services, name, action, as_json) for name in dict.fromkeys(names)], default=0)

    return with_services(storage, config, run)


async def _run(services: Operations, name: str, action: Action, as_json: bool) -> int:
    try:
        done = await action(services, name)
    except FoliotError as error:
        print_failure(error)
        return 1
    text = escaped(done["text"])
    print_result(text, {key: value for key, value in done.items() if key != "text"}, as_json=as_json)
    return 0
