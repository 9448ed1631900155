"""`after`: which steps a step follows, and when.

after = "extract"                                         one step, when it has succeeded
after = ["extract", "check"]                              both
after = { step = "extract", when = ["failure"] }          under another condition
after = ["check", { step = "extract", exit_code = 3 }]    and any of these in a list
"""

from collections.abc import Iterator

from foliot.config.document import Node
from foliot.config.keys import EDGE
from foliot.config.schema import Fields, Reading
from foliot.domain.workflow.builder import read_conditions
from foliot.domain.workflow.conditions import Conditions
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.spec import ON_SUCCESS, Edge


def read_edges(step: Fields, reading: Reading) -> tuple[Edge, ...]:
    """The edges that lead to a step. One that cannot be read is left out."""
    rule = step.get("trigger_rule")
    if rule is not None and "after" not in step:
        hint = "Name the steps that it follows in after, or leave it out."
        reading.problems.error(rule.place, "trigger_rule means nothing without after", hint)
    usual = ON_SUCCESS if rule is None else read_conditions([rule.value])
    nodes = _nodes(step["after"].node) if "after" in step else ()
    return tuple(edge for node in nodes for edge in _edge(node, usual, reading))


def _nodes(node: Node) -> Iterator[Node]:
    """A table for each edge."""
    for item in node.children() if isinstance(node.value, list) else (node,):
        yield item if isinstance(item.value, dict) else item._replace(value={"step": item.value})


def _edge(node: Node, usual: Conditions, reading: Reading) -> Iterator[Edge]:
    fields = reading.table(node, EDGE)
    if "step" not in node.value:
        reading.problems.error(node.place, "the edge has no step", 'Write { step = "name", when = "failure" }.')
    if "step" in fields:
        yield Edge(parent=fields["step"].value, when=_conditions(fields, usual), test=_test(fields))


def _conditions(fields: Fields, usual: Conditions) -> Conditions:
    words = fields.value("when")
    if words is None:
        return usual
    return read_conditions(words) if words else frozenset()


def _test(fields: Fields) -> OutputTest | None:
    given = {name: found.value for name, found in fields.items() if name not in ("step", "when")}
    if "exit_code" in given:
        given["exit_code"] = tuple(given["exit_code"])
    test = OutputTest(**given)
    return None if test == OutputTest() else test
