"""From the gate of a job, in the words people use, to the one used inside."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from foliot.domain.gate.spec import Action, Gate, WindowKind
from foliot.domain.ids import JobId
from foliot.domain.input.timing import millis
from foliot.domain.input.words import PartialAs, text, word_of
from foliot.errors import InvalidJob

_Reader = Callable[[Any, str], Any]


def take_gate(given: dict[str, Any]) -> Gate | None:
    """Read a gate, and take its words out of what was given. There is none without dependencies."""
    words = {name: given.pop(name) for name in KNOWN if name in given}
    if not words:
        return None
    if "depends_on" not in words:
        name = next(iter(words))
        hint = 'Name the jobs that it looks at: depends_on=["backup"].'
        raise InvalidJob(f"{name} means nothing without depends_on", hint=hint, field=name)
    fields = {_FIELDS[name][0]: _FIELDS[name][1](value, name) for name, value in words.items()}
    return Gate(**fields)


def _job_ids(value: Any, name: str) -> tuple[JobId, ...]:
    named = [value] if isinstance(value, str) else value
    if not isinstance(named, list | tuple) or not all(isinstance(item, str) for item in named):
        raise InvalidJob(f"{name} must be a list of job ids", hint='Write depends_on=["backup"].', field=name)
    if twice := [item for item, times in Counter(named).items() if times > 1]:
        raise InvalidJob(f'"{twice[0][:64]}" is named twice', hint="Name each job once.", field=name)
    return tuple(JobId(item) for item in named)


_FIELDS: Final[Mapping[str, tuple[str, _Reader]]] = {
    "depends_on": ("depends_on", _job_ids),
    "window": ("window_kind", word_of(WindowKind)),
    "window_sec": ("window", millis),
    "timezone": ("timezone", text),
    "on_missing": ("on_missing", word_of(Action)),
    "on_dep_fail": ("on_dep_fail", word_of(Action)),
    "wait_sec": ("wait", millis),
    "cooldown_sec": ("cooldown", millis),
    "partial_counts_as": ("partial_counts_as", word_of(PartialAs)),
}
"""By their names: the fields of a gate, and who reads them."""
KNOWN: Final = tuple(_FIELDS)
