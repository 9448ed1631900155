"""A runner whose attempts take virtual time and end as the seed determines.

What an attempt does depends only on the seed, the run and the number of the attempt, not on the process that runs it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Final, NamedTuple

import msgspec

from foliot.domain.chain.decision import Decision
from foliot.domain.chain.message import Decide, Spawn, Spend
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.errors import ChannelRefused
from foliot.ports.clock import Clock
from foliot.ports.runner import Attempt

KIND: Final = "act"
_STREAM: Final[Stream] = "stdout"


class Act(NamedTuple):
    """What one attempt does, and after how long."""

    deed: str
    span: Millis


_DEEDS: Final = ("succeed", "fail", "give_up", "raise", "hang", "kill")
_ODDS: Final = (62, 16, 4, 6, 8, 4)


_CODES: Final = (0, 0, 0, 10, 10, 15, 20, 30, 30, 40, 75)
_STAGES: Final = ("action", "verify", "extra", "monitor", "escalate", "scout")


def is_step(attempt: Attempt) -> bool:
    """Whether it is a step of a class of chains."""
    return isinstance(attempt.payload, dict) and "chain" in attempt.payload


class Actor:
    """The runner of one process. An attempt that crashes its worker calls `on_kill`."""

    abandoned = 0

    def __init__(self, seed: int, clock: Clock, on_kill: Callable[[], None]) -> None:
        self._seed = seed
        self._clock = clock
        self._on_kill = on_kill

    async def run(self, attempt: Attempt) -> Success | Failure:
        act = self.act_of(attempt)
        attempt.log.write(_STREAM, f"attempt {attempt.number} will {act.deed}\n".encode())
        await self._spend(act)
        await self._meddle(attempt)
        match act.deed:
            case "fail":
                return Failure("it went wrong", Reason.EXIT_CODE, exit_code=1)
            case "give_up":
                return Failure("it can never work", Reason.PAYLOAD, retryable=False)
            case "raise":
                raise RuntimeError("a defect of the runner")
            case _ if is_step(attempt):
                return Success(exit_code=self._random(attempt).choice(_CODES))
            case _:
                output = {"attempt": attempt.number, "execution": attempt.execution, "payload": attempt.payload}
                return Success(msgspec.json.encode(output))

    def act_of(self, attempt: Attempt) -> Act:
        random = self._random(attempt)
        deed = str(attempt.spec.get("deed") or random.choices(_DEEDS, _ODDS)[0])
        span = random.choice((0, random.randrange(5 * SECOND), random.randrange(90 * SECOND)))
        return Act(deed, Millis(span))

    def _random(self, attempt: Attempt) -> Random:
        return Random(f"{self._seed}:{attempt.run_id}:{attempt.number}")  # noqa: S311  (not a secret)

    async def _meddle(self, attempt: Attempt) -> None:
        """Ask the chain for far too much, and claim what is not true."""
        random, follow_ups = self._random(attempt), attempt.spec.get("follow_ups")
        if not is_step(attempt) and follow_ups is None:
            return
        for number in range(random.choice((0, 0, 1, 10))):
            name = random.choice(_STAGES) if follow_ups is None else str(follow_ups)
            forged = {"depth": 0} if random.random() < 0.05 else {}
            requests = (
                Spawn(
                    name=name, dedupe_key=str(number % 4), delay=Millis(random.choice((1, 60)) * SECOND), claims=forged
                ),
                Decide(decision=random.choice(list(Decision))),
                Spend(tokens=random.randrange(100)),
            )
            with suppress(ChannelRefused):  # another worker has the run
                await attempt.ask_chain(random.choices(requests, (8, 1, 1))[0])

    async def _spend(self, act: Act) -> None:
        if act.span:
            await self._clock.wait(asyncio.Event(), act.span)
        if act.deed == "kill":
            self._on_kill()
        if act.deed in ("kill", "hang"):
            await asyncio.Event().wait()
