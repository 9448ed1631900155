"""A job or a workflow as one JSON document, read by the readers of files.

A problem has a JSON path in place of a line. A document may come from another machine, so `${NAME}` in it is plain
text: the right to deploy a definition does not include reading the variables of the server.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from foliot.config.document import Node
from foliot.config.positions import KeyPath
from foliot.config.reading import Fields, Found
from foliot.domain.run.payload import MAX_LEVELS, check_depth
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.secrets import HIDDEN, is_hidden
from foliot.errors import InvalidInput, Place, shortened

MAX_BYTES: Final = 16 << 20
SOURCE: Final = "api"
_FILE_ONLY: Final = ("renamed_from",)
"""Keys that have a meaning only in a file, which declares everything each time."""


class Whole(NamedTuple):
    """The document that values are read from."""

    directory: Path = Path()

    def place(self, path: KeyPath) -> Place:
        return Place("", key=json_path(path))


def json_path(path: KeyPath) -> str:
    """`$.steps[0].after`, counted from 0 as JSON path does."""
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else _member(part) for part in path)


def _member(name: str) -> str:
    is_plain = name.isascii() and name.isidentifier()
    return f".{shortened(name)}" if is_plain else f"[{msgspec.json.encode(name[:64]).decode()}]"


def open_document(document: Mapping[str, Any] | str | bytes) -> dict[str, Any]:
    """Return the JSON object of a document."""
    try:
        text = document.encode() if isinstance(document, str) else document
        content = text if isinstance(text, bytes) else msgspec.json.encode(text)
        if len(content) > MAX_BYTES:
            raise _no_document(f"the document has more than {MAX_BYTES} bytes", "Use fewer or smaller steps.")
        tree = msgspec.json.decode(content)
        check_depth(tree)
    except RecursionError:
        raise _no_document("lists or objects are nested too deeply", f"Use at most {MAX_LEVELS} levels.") from None
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise _no_document(
            f"the document is not JSON: {shortened(str(error))}", "Give a JSON object, or a mapping."
        ) from None
    if not isinstance(tree, dict):
        raise _no_document("the document must be an object", 'Write {"id": "etl", "steps": [...]}.')
    return tree


def _no_document(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, hint=hint, field="document")


def default_policies(defaults: ScheduleDefaults) -> Fields:
    """Return the default policies of schedules as if they were in the document, where a problem with one then is."""
    table = Node(defaults.options, Whole())
    return Fields({name: Found(value, table, name) for name, value in defaults.options.items()})


def refused_values(root: Node) -> Iterator[tuple[Place, str, str]]:
    """Yield the problems that only a document has."""
    for name in _FILE_ONLY:
        if name in root.value:
            yield root.child(name).place, f"{name} belongs into a file", "Deploy it under the id that it has."
    yield from hidden_values(root)


def hidden_values(node: Node) -> Iterator[tuple[Place, str, str]]:
    """Yield values that a listing has hidden: the stars would be stored in place of the secret."""
    if isinstance(node.value, dict | list):
        for child in node.children():
            yield from hidden_values(child)
    elif node.path and is_hidden(str(node.path[-1]), node.value):
        yield node.place, "this value was hidden", f"Give the value itself in place of {HIDDEN}."
