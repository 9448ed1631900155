"""The runner of every kind of job while the history is made: an attempt takes virtual time and ends as its act says."""

import asyncio
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Final

from foliot.demo.acts import act_of
from foliot.demo.scene import Line, Scene, Story
from foliot.domain.instant import Instant, Millis, later
from foliot.domain.job.kinds import read_spec
from foliot.domain.job.kinds.shell import ShellSpec
from foliot.domain.run.logs import Stream
from foliot.domain.run.outcome import Failure, Success
from foliot.domain.run.progress import RunProgress
from foliot.ports.clock import Clock
from foliot.ports.runner import Attempt

_CHUNK: Final = 32 << 10


class Stage:
    """Executes acts, and knows when the next one goes on."""

    abandoned = 0

    def __init__(self, clock: Clock, story: Story) -> None:
        self._clock = clock
        self._story = story
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._ends: list[tuple[Instant, int]] = []
        self._numbers = count()

    @property
    def waiting(self) -> int:
        """How many attempts wait for time to pass."""
        return len(self._waiting)

    @property
    def next_end(self) -> Instant | None:
        """When the next attempt goes on."""
        while self._ends and self._ends[0][1] not in self._waiting:
            heappop(self._ends)
        return self._ends[0][0] if self._ends else None

    def wake(self) -> None:
        """Let the attempts go on whose time has passed."""
        while (at := self.next_end) is not None and at <= self._clock.now():
            _, number = heappop(self._ends)
            waiting = self._waiting.pop(number)
            if not waiting.done():  # it was cancelled, and its task has not noticed yet
                waiting.set_result(None)

    async def run(self, attempt: Attempt) -> Success | Failure:
        random = Random(f"{self._story.seed} {attempt.run_id} {attempt.number}")  # noqa: S311 - not a secret
        act = act_of(Scene(self._story, attempt, self._clock.now(), random))
        if (command := _command(attempt)) is not None:
            attempt.log.write("meta", f"$ {command}\n".encode())
        for number, lines in enumerate(_parts(act.lines, act.pauses), 1):
            await self._pause(Millis(act.span // act.pauses))
            await _print(attempt, lines)
            if act.progress:
                text = f"{act.progress} {number} of {act.pauses}"
                attempt.report(RunProgress(number / act.pauses, text))
        return act.outcome

    async def _pause(self, span: Millis) -> None:
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        heappush(self._ends, (later(self._clock.now(), span), number))
        try:
            await self._waiting[number]
        finally:
            self._waiting.pop(number, None)


def _command(attempt: Attempt) -> str | None:
    """Return the first line of the log of a command, as the real runner writes it."""
    return read_spec(ShellSpec, attempt.spec).echo if attempt.spec.get("command") else None


def _parts(lines: Sequence[Line], count: int) -> Iterable[Sequence[Line]]:
    size = -(-len(lines) // count)
    return (lines[number * size : (number + 1) * size] for number in range(count))


async def _print(attempt: Attempt, lines: Sequence[Line]) -> None:
    """Write the lines, those of one stream together."""
    stream: Stream = "stdout"
    text: list[str] = []
    size = 0
    for line in lines:
        if text and (line.stream != stream or size > _CHUNK):
            await _write(attempt, stream, text)
            text, size = [], 0
        stream = line.stream
        text.append(line.text)
        size += len(line.text)
    if text:
        await _write(attempt, stream, text)


async def _write(attempt: Attempt, stream: Stream, text: Sequence[str]) -> None:
    attempt.log.write(stream, "".join(f"{line}\n" for line in text).encode())
    await attempt.log.drain()
