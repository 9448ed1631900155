"""Doing one thing to several things: each is tried, and one that fails does not keep the others from it."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from foliot.errors import FoliotError
from foliot.interfaces.cli.place import ask
from foliot.interfaces.cli.speaking import complain, tell_done
from foliot.interfaces.cli.text import shown
from foliot.wiring import Services

Done = dict[str, object]
"""What was done, for programs; `text` says it to people."""
Deed = Callable[[Services, str], Awaitable[Done]]


def do_each(storage: str | None, config: Path | None, names: Sequence[str], deed: Deed, *, as_json: bool) -> int:
    """Do it to each of the names and say what was done. The exit code is 1 when one could not be done."""

    async def do(services: Services) -> int:
        return max([await _do(services, name, deed, as_json) for name in dict.fromkeys(names)], default=0)

    return ask(storage, config, do)


async def _do(services: Services, name: str, deed: Deed, as_json: bool) -> int:
    try:
        done = await deed(services, name)
    except FoliotError as error:
        complain(error.message, error.hint)
        return 1
    text = shown(done["text"])
    tell_done(text, {key: value for key, value in done.items() if key != "text"}, as_json=as_json)
    return 0
