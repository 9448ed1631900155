"""A slow reference implementation of workflows: the table of the specification, applied until nothing changes."""

from collections.abc import Mapping

from foliot.domain.workflow.conditions import Condition, Result
from foliot.domain.workflow.spec import Step

FIRES = {
    ("success", "success"),
    ("success", "complete"),
    ("failure", "failure"),
    ("failure", "complete"),
    ("skipped", "skipped"),
    ("skipped", "complete"),
}


def results(steps: list[Step], endings: Mapping[str, Result]) -> dict[str, Result]:
    """Return the result of every step, if steps that run end as in `endings`."""
    edges = {step.name: [(edge.parent, edge.when) for edge in step.after] for step in steps}
    for step in steps:
        if step.is_final:
            edges[step.name] = [(other.name, frozenset({Condition.COMPLETE})) for other in steps if other is not step]
    found: dict[str, Result] = {}
    while len(found) < len(steps):
        for name, parents in edges.items():
            if name not in found and all(parent in found for parent, _ in parents):
                runs = all(any((found[p], c) in FIRES for c in when) for p, when in parents)
                found[name] = endings[name] if runs else Result.SKIPPED
    return found


def is_failed(steps: list[Step], found: Mapping[str, Result]) -> bool:
    """Return whether a failure is not handled by a child."""
    taken_up = {
        edge.parent
        for step in steps
        for edge in step.after
        if found[step.name] != "skipped" and ("failure" in edge.when or "complete" in edge.when)
    }
    return any(result == "failure" and name not in taken_up for name, result in found.items())
