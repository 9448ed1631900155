"""In which fields two definitions differ, as people can be shown it."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from foliot.domain.secrets import public_value

_GROUPS: Final = frozenset({"spec", "options", "definition"})
"""Fields of a job or a step that only group others; people know what is in them by its own name."""
_WHOLE: Final = frozenset({"payload", "payload_template", "params"})
"""Fields that are one value: nobody but the job knows what is in them."""
_DERIVED: Final = frozenset({"anchor", "seed"})
"""Follow from the other fields and from what was stored before; nobody writes them."""


class Difference(NamedTuple):
    """One field, before and after. None: not there. Values that may be secret are hidden."""

    field: str
    before: Any
    after: Any


def differences(before: Struct, after: Struct) -> tuple[Difference, ...]:
    """The fields that are not equal, as they would be stored."""
    old, new = _flat(_document(before)), _flat(_document(after))
    return tuple(
        Difference(name, _shown(name, old.get(name)), _shown(name, new.get(name)))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name) and name not in _DERIVED
    )


def _document(value: Struct) -> Any:
    # Sets come in the same order every time, so that equal ones are equal as they are stored.
    document = msgspec.json.decode(msgspec.json.encode(value, order="deterministic"))
    if isinstance(document.get("steps"), list):
        document |= _by_name(document["steps"])
    return document


def _by_name(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The steps of a workflow: their names in order, and each under its own."""
    return {"steps": [step["name"] for step in steps], "step": {step.pop("name"): step for step in steps}}


def _flat(document: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested documents by dotted names."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        path = before + name
        if isinstance(value, dict) and name not in _WHOLE:
            flat |= _flat(value, before if name in _GROUPS else f"{path}.")
        else:
            flat[path] = value
    return flat


def _shown(name: str, value: Any) -> Any:
    """That a secret differs is said, not how."""
    if value is None:
        return None
    # Any part may be the field: that of a step stands behind the step's name.
    return reduce(lambda shown, part: public_value(part, shown), name.split("."), value)
