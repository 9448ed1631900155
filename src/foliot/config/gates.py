"""`depends_on`: what a job asks of others before it runs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

import msgspec

from foliot.config.document import Node
from foliot.config.keys import GATE
from foliot.config.kinds import Kind
from foliot.config.schema import Fields, Found, Reading
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.instant import from_timedelta
from foliot.domain.workflow.graph import find_cycles
from foliot.errors import InvalidInput

_NAMES: Final = frozenset(key.name for key in GATE)


def read_gate(job_id: JobId, kind: Kind, own: Fields, fields: Fields, node: Node, reading: Reading) -> Gate | None:
    """The gate of a job. What is wrong with it by itself has become a problem."""
    if "depends_on" not in own:
        if "depends_on" not in node.value:
            _refuse_without_dependencies(kind, own, node, reading)
        return None
    given = {name: _value(value) for name, value in fields.fill(GATE).items()}
    gate = msgspec.convert({**given, "timezone": fields.value("timezone", "UTC")}, Gate)
    try:
        gate.check(job_id)
    except InvalidInput as error:
        reading.refuse(fields[error.field].place if error.field in fields else node.place, error)
    for name, times in Counter(gate.depends_on).items():
        if times > 1:
            reading.problems.error(own["depends_on"].place, f'"{name[:64]}" is named twice', "Name each job once.")
    return gate


def _refuse_without_dependencies(kind: Kind, own: Fields, node: Node, reading: Reading) -> None:
    if kind.is_gate:
        hint = 'Name the jobs that it looks at: depends_on = ["backup"].'
        reading.problems.error(node.place, f"a job of kind {kind.name} needs depends_on", hint)
        return
    for name in [name for name in own if name in _NAMES]:
        hint = "Name the jobs that it looks at in depends_on, or leave it out."
        reading.problems.error(own[name].place, f"{name} means nothing without depends_on", hint)


def _value(value: object) -> object:
    return from_timedelta(value) if isinstance(value, timedelta) else value


def dependency_nodes(gate: Gate, found: Found) -> Iterator[tuple[JobId, Node]]:
    """Each job that a gate looks at, and where it is named."""
    for number, name in enumerate(gate.depends_on):
        yield name, Node(name, found.node.origin, (*found.node.path, number))


def circles(gates: Mapping[JobId, Gate]) -> Iterator[list[str]]:
    """Ways round from a gate to itself, none of which share a gate."""
    return find_cycles({job: [name for name in gate.depends_on if name != job] for job, gate in gates.items()})
