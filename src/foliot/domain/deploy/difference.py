"""The fields in which two definitions differ, with secrets masked."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from foliot.domain.secrets import public_value

_GROUPS: Final = frozenset({"spec", "options", "definition", "notify"})
"""Fields of a job or a step that only group others, and are not part of the shown name."""
_WHOLE: Final = frozenset({"json", "payload", "payload_template", "params"})
"""Fields that are compared as one value, since their contents belong to the user."""
_WRITTEN: Final = "written"
"""The field that holds what other fields are shown as. It is not shown itself."""
_DERIVED: Final = frozenset({"anchor", "seed"})
"""Fields that are derived from the others and from what was stored before."""


class Difference(NamedTuple):
    """One field, before and after. None: not set. Values that may be secrets are masked."""

    field: str
    before: Any
    after: Any


class _Field(NamedTuple):
    value: Any
    written: Any = None
    """The value as it was written, if it contains environment variables."""

    def shown(self, name: str) -> Any:
        """Return the value with secrets masked."""
        if self.value is None:
            return None
        # Any part of the path may be the field: the field of a step follows the step's name.
        parts = name.split(".")
        return reduce(lambda shown, part: public_value(part, shown), parts, self.written or self.value)


_NOTHING: Final = _Field(None)


def differences(before: Struct, after: Struct) -> tuple[Difference, ...]:
    """Return the fields that differ in their stored form."""
    old, new = _flat(_document(before)), _flat(_document(after))
    return tuple(
        Difference(name, old.get(name, _NOTHING).shown(name), new.get(name, _NOTHING).shown(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name, _NOTHING) != new.get(name, _NOTHING) and name not in _DERIVED
    )


def public_fields(value: Struct) -> dict[str, Any]:
    """Return all fields of a definition that are set, by name, with secrets masked."""
    fields = _flat(_document(value)).items()
    return {name: field.shown(name) for name, field in fields if name not in _DERIVED and field.value is not None}


def _document(value: Struct) -> Any:
    # Sets are encoded in a fixed order, so that equal sets are equal as JSON.
    document = msgspec.json.decode(msgspec.json.encode(value, order="deterministic"))
    if isinstance(document.get("steps"), list):
        document |= _by_name(document["steps"])
    return document


def _by_name(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the steps of a workflow as a list of names, and each step under its name."""
    return {"steps": [step["name"] for step in steps], "step": {step.pop("name"): step for step in steps}}


def _flat(document: Mapping[str, Any], before: str = "", around: Mapping[str, Any] | None = None) -> dict[str, _Field]:
    """Return the fields of nested documents by dotted names."""
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
