"""Workflows drawn by chance: any shape, any conditions."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from foliot.domain.workflow.conditions import ON_FAILURE, Condition, Conditions
from foliot.domain.workflow.spec import Edge, Step

FINAL: Final = "last"
_PARENTS: Final = (0, 1, 1, 1, 1, 2, 2, 3)
"""How many a step may have, each as likely as the others."""
_CONDITIONS: Final = (Condition.SUCCESS, Condition.COMPLETE, Condition.FAILURE, Condition.SKIPPED)
_ODDS: Final = (6, 3, 2, 1)


def draw_steps(chance: Random, make: Callable[[str], Step], *, least: int = 3, most: int = 14) -> tuple[Step, ...]:
    """Steps, made without edges by `make`, with edges between them and now and then a final one, in any order."""
    names = [f"s{number}" for number in range(chance.randint(least, most))]
    if chance.random() < 0.4:
        names[-1] = FINAL
    return draw_edges(chance, [make(name) for name in names])


def draw_edges(chance: Random, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps with other edges. The one of that name is final."""
    drawn: list[Step] = []
    inner = [step for step in steps if step.name != FINAL]
    for step in chance.sample(inner, len(inner)):
        after = _draw_after(chance, [earlier.name for earlier in drawn])
        may_recover = any(edge.when & ON_FAILURE for edge in after)
        drawn.append(replace(step, after=after, recovers=may_recover and chance.random() < 0.5))
    drawn += [replace(step, is_final=True) for step in steps if step.name == FINAL]
    return tuple(chance.sample(drawn, len(drawn)))


def _draw_after(chance: Random, earlier: Sequence[str]) -> tuple[Edge, ...]:
    parents = chance.sample(earlier, min(len(earlier), chance.choice(_PARENTS)))
    return tuple(Edge(parent=parent, when=_draw_conditions(chance)) for parent in parents)


def _draw_conditions(chance: Random) -> Conditions:
    return frozenset(chance.choices(_CONDITIONS, _ODDS, k=chance.choice((1, 1, 2))))
