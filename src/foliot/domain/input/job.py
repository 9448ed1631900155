"""Converts the options of a job or a run to domain values."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from foliot.domain.gate.spec import Gate
from foliot.domain.input.keywords import Keywords, as_written, read_keywords
from foliot.domain.job.job import Options, overlay
from foliot.domain.vocabulary.job import DEPENDS_ON, GATE, OPTIONS
from foliot.domain.vocabulary.places import RUN_CALL
from foliot.domain.vocabulary.schedule import TIMEZONE
from foliot.errors import InvalidJob

_GATE: Final = (*GATE, TIMEZONE)


def job_options(**given: Any) -> dict[str, Any]:
    """Read and check options. Return only those that were given, in the form that `domain.job.job.overlay` takes."""
    return checked_overlay(read_keywords(RUN_CALL, given)) if given else {}


def checked_overlay(read: Keywords) -> dict[str, Any]:
    """Return the options among what was read; see `option_overlay`. An error names an option as it was written."""
    options = option_overlay(read)
    if options:
        with as_written(read.written):
            overlay(Options(), options).check()
    return options


def option_overlay(read: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options among what was read, in the form that `domain.job.job.overlay` takes."""
    options: dict[str, Any] = {}
    for field in OPTIONS:
        if field.name in read:
            group, _, attribute = field.attribute.rpartition(".")
            (options.setdefault(group, {}) if group else options)[attribute] = read[field.name]
    if "delays" in options.get("retry", ()):
        # Without `retries`, the number of pauses is the number of retries.
        options["retry"].setdefault("retries", len(options["retry"]["delays"]))
    return options


def read_gate(read: Keywords) -> Gate | None:
    """Return the gate among what was read. Without `depends_on` there is none, and its other options are refused."""
    if DEPENDS_ON.name not in read:
        alone = next((name for name in read if name in {field.name for field in _GATE}), None)
        if alone is None:
            return None
        name = read.written[alone]
        hint = 'Name the jobs that it depends on: depends_on=["backup"].'
        raise InvalidJob(f"{name} requires depends_on", hint=hint, field=name)
    if twice := [name for name, times in Counter(read[DEPENDS_ON.name]).items() if times > 1]:
        raise InvalidJob(f'"{twice[0][:64]}" is named twice', hint="Name each job once.", field=DEPENDS_ON.name)
    return gate_of(read)


def gate_of(read: Mapping[str, Any]) -> Gate:
    """Return a gate with the options that were read."""
    given = {field.attribute: read[field.name] for field in _GATE if field.name in read}
    return Gate(**{**given, DEPENDS_ON.name: tuple(given[DEPENDS_ON.name])})
