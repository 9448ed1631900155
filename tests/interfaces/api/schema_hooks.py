"""Hooks of schemathesis: about half of the names in paths are those of things that exist."""

import json
import os
import re
from typing import Any, Final

import schemathesis

KNOWN: Final = "FOLIOT_TEST_KNOWN"
"""The variable with the names that exist, by the parameters that take them."""
_NAME: Final = re.compile(r"[A-Za-z0-9_.:@-]+")
_EXISTING: Final[dict[str, list[str]]] = json.loads(os.environ.get(KNOWN, "{}"))


@schemathesis.hook
def map_path_parameters(_: schemathesis.HookContext, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    return path_parameters and {name: _existing(name, value) for name, value in path_parameters.items()}


def _existing(name: str, value: Any) -> Any:
    known = _EXISTING.get(name, [])
    if not (known and isinstance(value, str) and _NAME.fullmatch(value)):
        return value  # what no name can be must still be refused
    choices = [*known, *[value] * len(known)]
    return choices[len(value) % len(choices)]
