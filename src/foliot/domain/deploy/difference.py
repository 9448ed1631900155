"""In which fields two definitions differ, as people can be shown it."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from foliot.domain.secrets import public_value

_GROUPS: Final = frozenset({"spec", "options", "definition"})
"""Fields of a job or a step that only group others; people know what is in them by its own name."""
_WHOLE: Final = frozenset({"json", "payload", "payload_template", "params"})
"""Fields that are one value: nobody but the job knows what is in them."""
_WRITTEN: Final = "written"
"""What other fields are shown as; none of its own."""
_DERIVED: Final = frozenset({"anchor", "seed"})
"""Follow from the other fields and from what was stored before; nobody writes them."""


class Difference(NamedTuple):
    """One field, before and after. None: not there. Values that may be secret are hidden."""

    field: str
    before: Any
    after: Any


class _Field(NamedTuple):
    value: Any
    written: Any = None
    """What it was before variables were put in, if it had any."""

    def shown(self, name: str) -> Any:
        """That a secret differs is said, not how."""
        if self.value is None:
            return None
        # Any part may be the field: that of a step stands behind the step's name.
        parts = name.split(".")
        return reduce(lambda shown, part: public_value(part, shown), parts, self.written or self.value)


_NOTHING: Final = _Field(None)


def differences(before: Struct, after: Struct) -> tuple[Difference, ...]:
    """The fields that are not equal, as they would be stored."""
    old, new = _flat(_document(before)), _flat(_document(after))
    return tuple(
        Difference(name, old.get(name, _NOTHING).shown(name), new.get(name, _NOTHING).shown(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name, _NOTHING) != new.get(name, _NOTHING) and name not in _DERIVED
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


def _flat(document: Mapping[str, Any], before: str = "", around: Mapping[str, Any] | None = None) -> dict[str, _Field]:
    """Nested documents by dotted names."""
    flat: dict[str, _Field] = {}
    own = document.get(_WRITTEN)
    written = own if isinstance(own, dict) else around or {}
    for name, value in document.items():
        path = before + name
        if not isinstance(value, dict) or name in _WHOLE:
            flat[path] = _Field(value, written.get(name))
        elif name in _GROUPS:
            flat |= _flat(value, before, written)
        elif name != _WRITTEN:
            flat |= _flat(value, f"{path}.")
    return flat
