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


def recovered(steps: list[Step], found: Mapping[str, Result]) -> set[tuple[str, str]]:
    """Every pair of a failed step and a step that recovered it, by looking at all pairs of steps."""
    return {
        (failed.name, other.name)
        for failed in steps
        for other in steps
        for edge in other.after
        if found[failed.name] == "failure"
        and edge.parent == failed.name
        and ("failure" in edge.when or "complete" in edge.when)
        and other.recovers
        and not other.is_final
        and found[other.name] == "success"
    }


def is_failed(steps: list[Step], found: Mapping[str, Result]) -> bool:
    """Whether a step failed that no other one recovered."""
    made_up = {name for name, _ in recovered(steps, found)}
    return any(result == "failure" and name not in made_up for name, result in found.items())
