"""One chain: its steps, its state and its history. Stored as the progress of its tree."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from foliot.domain.chain.decision import Decision
from foliot.domain.ids import RunId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.run.run import Status

SLOT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")


class ChainState(StrEnum):
    """How far a chain has come. It never goes back; without a row it is idle."""

    IDLE = "idle"
    ARMED = "armed"
    """Its first step is planned."""
    ACTIVE = "active"
    """Its first step has begun."""
    COOLING_DOWN = "cooling_down"
    """A check was good, and further checks follow."""
    CLOSED = "closed"


MOVES: Final = {
    ChainState.IDLE: frozenset({ChainState.ARMED}),
    ChainState.ARMED: frozenset({ChainState.ACTIVE, ChainState.CLOSED}),
    ChainState.ACTIVE: frozenset({ChainState.COOLING_DOWN, ChainState.CLOSED}),
    ChainState.COOLING_DOWN: frozenset({ChainState.CLOSED}),
    ChainState.CLOSED: frozenset(),
}


class ChainOutcome(StrEnum):
    """How a chain was closed."""

    RESOLVED = "resolved"
    ESCALATED = "escalated"
    FAILED = "failed"
    """It tried to exceed a limit, or a step of an imperative chain failed."""
    EXPIRED = "expired"
    STOPPED = "stopped"
    """By a person."""
    BREAKER_OPEN = "breaker_open"
    """The breaker of its class opened."""


class ChainStep(Struct, kw_only=True, omit_defaults=True):
    """One step. It is open until `status` is set."""

    key: str
    """Its key in the tree: the stage and how many steps of that stage there were."""
    stage: str
    depth: int
    attempt: int
    run_id: RunId
    due_at: Instant
    cause: str
    parent: str | None = None
    """The key of the step that it follows from."""
    window: str = ""
    """The attempt window that a request gave it: of two open steps of one stage and window only one is created."""
    decision: Decision | None = None
    has_decided: bool = False
    """The running step has told its decision."""
    reason: str = ""
    is_cancelled: bool = False
    """The chain has cancelled it."""
    status: Status | None = None
    started_at: Instant | None = None
    finished_at: Instant | None = None
    tokens: int = 0
    usd: float = 0.0

    @property
    def verdict(self) -> str:
        """What it decided, and why, in words."""
        return f"{self.key} decided {self.decision}" + (f": {self.reason}" if self.reason else "")


class Move(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of the state, and its cause."""

    at: Instant
    state: ChainState
    cause: str


class Closing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Decided, while steps are still running."""

    outcome: ChainOutcome
    cause: str


class Refused(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request that was refused."""

    at: Instant
    code: str
    message: str
    step: str = ""


MOST_REFUSED: Final = 20


class Chain(Struct, kw_only=True, omit_defaults=True):
    """What a chain remembers between two decisions. Bounded: by the number of its children, and `MOST_REFUSED`."""

    id: str = ""
    """Class, date and slot. Empty until it is armed."""
    slot: str = ""
    state: ChainState = ChainState.IDLE
    armed_at: Instant | None = None
    deadline: Instant | None = None
    expires_at: Instant | None = None
    steps: list[ChainStep] = []
    retries: dict[str, int] = {}
    """By stage."""
    good: int = 0
    """Good checks in a row."""
    spawned: list[Instant] = []
    """When its latest steps were created."""
    tokens: int = 0
    usd: float = 0.0
    data: Any = None
    moves: list[Move] = []
    refused: list[Refused] = []
    escalation: str | None = None
    """Why a person was told. After that nothing else is planned."""
    closing: Closing | None = None
    outcome: ChainOutcome | None = None

    @property
    def is_armed(self) -> bool:
        """Whether it has been armed, and is not closed."""
        return self.state not in (ChainState.IDLE, ChainState.CLOSED)

    @property
    def children(self) -> int:
        return sum(step.depth > 0 for step in self.steps)

    @property
    def open_steps(self) -> list[ChainStep]:
        return [step for step in self.steps if step.status is None]

    def step(self, key: str | None) -> ChainStep | None:
        return next((step for step in self.steps if step.key == key), None)

    def latest(self, stages: Iterable[str]) -> ChainStep | None:
        """Return the latest step of one of these stages."""
        return next((step for step in reversed(self.steps) if step.stage in stages), None)

    def attempt(self, stage: str) -> int:
        return 1 + self.retries.get(stage, 0)

    def next_key(self, stage: str) -> str:
        return f"{stage}.{1 + sum(step.stage == stage for step in self.steps)}"

    def move(self, state: ChainState, cause: str, at: Instant) -> None:
        if state not in MOVES[self.state]:
            raise ValueError(f"a chain cannot go from {self.state} to {state}")
        self.state = state
        self.moves.append(Move(at=at, state=state, cause=cause))

    def refuse(self, code: str, message: str, at: Instant, step: str = "") -> None:
        self.refused = [*self.refused[1 - MOST_REFUSED :], Refused(at=at, code=code, message=message, step=step)]

    def encode(self) -> bytes:
        return msgspec.json.encode(self)


_CHAIN: Final = msgspec.json.Decoder(Chain)


def read_chain(progress: bytes | None) -> Chain:
    return Chain() if progress is None else _CHAIN.decode(progress)


def chain_id(class_id: str, at: Instant, slot: str) -> str:
    return f"{class_id}-{to_datetime(at):%Y%m%d}-{slot}"


class ChainRecord(Struct, frozen=True, kw_only=True):
    """A chain as lists show it. A row, written with every decision."""

    run_id: RunId
    """The run of its tree."""
    chain_id: str
    class_id: str
    slot: str
    state: ChainState
    outcome: ChainOutcome | None
    armed_at: Instant
    deadline: Instant | None
    expires_at: Instant
    closed_at: Instant | None
    children: int
    tokens: int
    usd: float
