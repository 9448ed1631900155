"""Fanouts on a rig: a runner that a test controls item by item, and shortcuts to define and read fanouts."""

from collections.abc import Callable
from typing import Any

import msgspec

from foliot.domain.fanout.item import item_key
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import SECOND
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.outcome import Failure, Reason, Success
from foliot.domain.run.run import Run, Status
from foliot.ports.runner import Attempt
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from tests.engine.rig import Rig, Stage

SCAN = JobId("scan")
BAD = Failure("exit code 1", Reason.EXIT_CODE, 1)
Answer = Callable[[Attempt], Success | Failure | None]


class ItemStage(Stage):
    """A runner that answers each attempt separately. Without an answer an attempt runs until the test ends it."""

    def __init__(self, answer: Answer = lambda attempt: Success()) -> None:
        super().__init__()
        self.answer_to = answer

    async def run(self, attempt: Attempt) -> Success | Failure:
        self.answer = self.answer_to(attempt)
        return await super().run(attempt)

    @property
    def items(self) -> list[object]:
        """The items of all attempts, in the order of their starts."""
        return [attempt.payload for attempt in self.attempts if not is_reducer(attempt)]

    @property
    def reducers(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if is_reducer(attempt)]


class FanoutRig(Rig):
    """A process whose jobs are fanouts."""

    def __init__(
        self, storage: Storage, clock: VirtualClock, answer: Answer = lambda attempt: Success(), **fields: Any
    ) -> None:
        self.runner = ItemStage(answer)
        super().__init__(storage, clock, runners={"stage": self.runner}, **fields)

    async def fanout(
        self, items: Any = None, *, job_id: str = SCAN, options: Options | None = None, **spec: Any
    ) -> None:
        """Define a fanout."""
        await self.storage.definitions.put_jobs([(JobId(job_id), a_fanout(items, options=options, **spec))])

    async def start(self, items: Any = None, **fields: Any) -> RunId:
        """Define a fanout and start it."""
        await self.fanout(items, **fields)
        return await self.enqueue(fields.get("job_id", SCAN))

    async def turn(self) -> None:
        """Do one round of every duty."""
        await self.dispatcher.round()
        await self.work()
        await self.settle()

    async def go_on(self, run_id: RunId, *, turns: int = 100) -> Run:
        """Work until the run has ended, for a limited number of turns."""
        for _ in range(turns):
            if (await self.status(run_id)).is_terminal:
                break
            await self.turn()
        run = await self.run(run_id)
        assert run.status.is_terminal, f"run {run_id} is {run.status} after {turns} turns"
        return run

    async def children(self, run_id: RunId) -> list[Run]:
        """Return the runs of the items, in the order of the items."""
        found = [run for run in await self.runs() if run.parent_id == run_id and run.child_key != "reducer"]
        return sorted(found, key=lambda run: run.child_key or "")


def a_fanout(items: Any = None, *, options: Options | None = None, **spec: Any) -> JobSpec:
    """Build a fanout whose children run on the stage."""
    known = {"inner_kind": "stage", **({} if items is None else {"items": items}), **spec}
    given = msgspec.structs.replace(options or Options(), queue=TREES_QUEUE)
    return JobSpec(kind="fanout", spec=known, options=given)


def a_reducer(**fields: Any) -> dict[str, Any]:
    return {"kind": "stage", "spec": {"role": "reducer"}, **fields}


def is_reducer(attempt: Attempt) -> bool:
    return attempt.spec.get("role") == "reducer"


def retries(count: int) -> dict[str, Any]:
    """Build the options of children that are retried immediately."""
    return {"retry": {"retries": count, "base": 0, "factor": 1.0, "cap": 0}}


def keys(count: int) -> list[str]:
    return [item_key(index) for index in range(count)]


def summary(run: Run) -> dict[str, Any]:
    assert isinstance(run.output, dict)
    return run.output


def statuses(runs: list[Run]) -> list[Status]:
    return [run.status for run in runs]


def hold(*items: object) -> Answer:
    """Build an answer that lets some items run until the test ends them, and the others succeed."""
    return lambda attempt: None if attempt.payload in items else Success()


def fail(*items: object) -> Answer:
    return lambda attempt: BAD if attempt.payload in items and not is_reducer(attempt) else Success()


LONG = 3_600 * SECOND
