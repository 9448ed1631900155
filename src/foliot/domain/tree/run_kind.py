"""What a run is: of a job alone, a tree such as an execution, a fanout or a chain, or a child of one."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from foliot.domain.chain.spec import CHAIN as CHAIN_TREE
from foliot.domain.fanout.kind import ITEM_TRIGGER, REDUCER_TRIGGER
from foliot.domain.fanout.spec import FANOUT as FANOUT_TREE
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.run import Run


class RunKind(StrEnum):
    JOB = "job"
    EXECUTION = "execution"
    """Of a workflow."""
    FANOUT = "fanout"
    CHAIN = "chain"
    STEP = "step"
    """Of an execution or a chain, whatever it does: a step may be a fanout."""
    ITEM = "item"
    """The child of a fanout that runs one item."""
    REDUCER = "reducer"


class FanoutRole(StrEnum):
    """What a run is in a fanout."""

    PARENT = "parent"
    CHILD = "child"
    REDUCER = "reducer"


OF_CHILDREN: Final = frozenset({RunKind.STEP, RunKind.ITEM, RunKind.REDUCER})
"""The kinds of runs that are part of another one."""
_OF_FANOUTS: Final = {ITEM_TRIGGER: RunKind.ITEM, REDUCER_TRIGGER: RunKind.REDUCER}
_ROOTS: Final[Mapping[str | None, RunKind]] = {FANOUT_TREE: RunKind.FANOUT, CHAIN_TREE: RunKind.CHAIN}
_ROLES: Final = {RunKind.ITEM: FanoutRole.CHILD, RunKind.REDUCER: FanoutRole.REDUCER}


def kind_of(run: Run) -> RunKind:
    if run.parent_id is not None:
        return _OF_FANOUTS.get(run.trigger, RunKind.STEP)
    if run.tree in _ROOTS:
        return _ROOTS[run.tree]
    return RunKind.EXECUTION if run.queue == TREES_QUEUE else RunKind.JOB


def role_of(run: Run) -> FanoutRole | None:
    """Return what a run is in a fanout. A step or an item that is a fanout itself is a parent."""
    return FanoutRole.PARENT if run.tree == FANOUT_TREE else _ROLES.get(kind_of(run))
