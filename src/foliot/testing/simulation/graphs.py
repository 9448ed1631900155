"""Random workflow graphs, with any shape and conditions."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from foliot.domain.workflow.conditions import ON_FAILURE, Condition, Conditions
from foliot.domain.workflow.spec import Edge, Step

FINAL: Final = "last"
_PARENTS: Final = (0, 1, 1, 1, 1, 2, 2, 3)
"""The numbers of parents that a step may have, all equally likely."""
_CONDITIONS: Final = (Condition.SUCCESS, Condition.COMPLETE, Condition.FAILURE, Condition.SKIPPED)
_ODDS: Final = (6, 3, 2, 1)


def draw_steps(random: Random, make: Callable[[str], Step], *, least: int = 3, most: int = 14) -> tuple[Step, ...]:
    """Return random steps, built without edges by `make`, with random edges, in random order, sometimes with a final
    step."""
    names = [f"s{number}" for number in range(random.randint(least, most))]
    if random.random() < 0.4:
        names[-1] = FINAL
    return draw_edges(random, [make(name) for name in names])


def draw_edges(random: Random, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the same steps with other edges. The step named `final` is the final one."""
    drawn: list[Step] = []
    inner = [step for step in steps if step.name != FINAL]
    for step in random.sample(inner, len(inner)):
        after = _draw_after(random, [earlier.name for earlier in drawn])
        may_recover = any(edge.when & ON_FAILURE for edge in after)
        drawn.append(replace(step, after=after, recovers=may_recover and random.random() < 0.5))
    drawn += [replace(step, is_final=True) for step in steps if step.name == FINAL]
    return tuple(random.sample(drawn, len(drawn)))


def _draw_after(random: Random, earlier: Sequence[str]) -> tuple[Edge, ...]:
    parents = random.sample(earlier, min(len(earlier), random.choice(_PARENTS)))
    return tuple(Edge(parent=parent, when=_draw_conditions(random)) for parent in parents)


def _draw_conditions(random: Random) -> Conditions:
    return frozenset(random.choices(_CONDITIONS, _ODDS, k=random.choice((1, 1, 2))))
