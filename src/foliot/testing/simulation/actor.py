"""A runner whose attempts take virtual time and end as the seed determines.

What an attempt does depends only on the seed, the run and the number of the attempt, not on the process that runs it.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

import msgspec

from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Failure, Reason, Success
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
        match act.deed:
            case "fail":
                return Failure("it went wrong", Reason.EXIT_CODE, exit_code=1)
            case "give_up":
                return Failure("it can never work", Reason.PAYLOAD, retryable=False)
            case "raise":
                raise RuntimeError("a defect of the runner")
            case _:
                output = {"attempt": attempt.number, "execution": attempt.execution, "payload": attempt.payload}
                return Success(msgspec.json.encode(output))

    def act_of(self, attempt: Attempt) -> Act:
        random = Random(f"{self._seed}:{attempt.run_id}:{attempt.number}")  # noqa: S311  (not a secret)
        deed = str(attempt.spec.get("deed") or random.choices(_DEEDS, _ODDS)[0])
        span = random.choice((0, random.randrange(5 * SECOND), random.randrange(90 * SECOND)))
        return Act(deed, Millis(span))

    async def _spend(self, act: Act) -> None:
        if act.span:
            await self._clock.wait(asyncio.Event(), act.span)
        if act.deed == "kill":
            self._on_kill()
        if act.deed in ("kill", "hang"):
            await asyncio.Event().wait()
