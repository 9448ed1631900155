"""Chains on a rig: a runner that a test controls step by step, and shortcuts to define and read chains."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from foliot.domain.alert import Alert
from foliot.domain.chain.class_state import ClassState, class_key, read_class
from foliot.domain.chain.message import ChainRequest
from foliot.domain.chain.state import Chain
from foliot.domain.events import EventKind
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.outcome import Failure, Success
from foliot.domain.run.run import Run
from foliot.domain.tree.kind import Wanted
from foliot.ports.runner import Attempt
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from tests.engine.rig import Rig, Stage

DISK = JobId("disk")
Script = Mapping[str, int | Failure | None]
"""What the steps of each stage end with: an exit code, a failure, or nothing until the test ends them."""


class StepStage(Stage):
    """A runner that answers each step by its stage. A list of answers is used up one by one."""

    def __init__(self, script: Mapping[str, Any]) -> None:
        super().__init__()
        self.script = {stage: list(given) if isinstance(given, list) else given for stage, given in script.items()}

    async def run(self, attempt: Attempt) -> Success | Failure:
        given = self.script.get(stage_of(attempt), 0)
        if isinstance(given, list):
            given = given.pop(0)
        if callable(given):
            given = await given(attempt)
        self.answer = Success(exit_code=given) if isinstance(given, int) else given
        return await super().run(attempt)

    @property
    def stages(self) -> list[str]:
        return [stage_of(attempt) for attempt in self.attempts]


class ChainRig(Rig):
    """A process whose jobs are chains."""

    def __init__(self, storage: Storage, clock: VirtualClock, script: Mapping[str, Any] | None = None, **fields: Any):
        self.runner = StepStage(script or {})
        super().__init__(storage, clock, runners={"stage": self.runner}, **fields)

    async def chain(self, *, job_id: str = DISK, **spec: Any) -> None:
        """Define a class."""
        await self.storage.definitions.put_jobs([(JobId(job_id), a_chain(**spec))])

    async def start(self, *, job_id: str = DISK, payload: Any = None) -> RunId:
        body = None if payload is None else msgspec.json.encode(payload)
        return await self.enqueue(job_id, payload=body)

    async def turn(self) -> None:
        """Do one round of every duty."""
        await self.dispatcher.round()
        await self.work()
        await self.settle()

    async def go_on(self, run_id: RunId, *, minutes: int = 200, until: Callable[[Chain], bool] | None = None) -> Run:
        """Work minute by minute until the run has ended, or its chain is as wanted."""
        for _ in range(minutes):
            for _ in range(3):
                await self.turn()
            if (await self.status(run_id)).is_terminal or (until is not None and until(await self.read(run_id))):
                return await self.run(run_id)
            self.clock.advance(MINUTE)
        raise AssertionError(f"run {run_id} is {await self.status(run_id)} after {minutes} minutes")

    async def read(self, run_id: RunId) -> Chain:
        """Return what the chain remembers."""
        found = await self.storage.queries.chain(run_id)
        return Chain() if found is None else found.chain

    async def state_of_class(self, class_id: str = DISK) -> ClassState:
        loaded = await self.storage.trees.load([Wanted(run_id=RunId("-"), shared=class_key(class_id))])
        shared = loaded[RunId("-")].shared
        assert shared is not None
        return read_class(shared.body)

    async def ask(self, attempt: Attempt, request: ChainRequest) -> Mapping[str, Any] | None:
        run = await self.run(attempt.run_id)
        assert run.worker_id is not None
        assert run.token is not None
        return await self.storage.work.ask_chain(run.id, run.worker_id, run.token, request)

    async def alerts(self) -> list[Alert]:
        events = await self.storage.queries.events(after=0, limit=10_000)
        return [Alert.of_item(item) for event in events if event.kind is EventKind.ALERT_RAISED for item in event.items]

    async def steps(self, run_id: RunId) -> list[Run]:
        return [run for run in await self.runs() if run.parent_id == run_id]


def a_chain(**spec: Any) -> JobSpec:
    """Build a class with the stages scout, action and verify, which run on the stage."""
    stages = {"scout": {}, "action": {}, "verify": {}, **spec.pop("stages", {})}
    known = {name: {"kind": "stage", **given} for name, given in stages.items() if given is not None}
    return JobSpec(kind="chain", spec={"stages": known, **spec}, options=Options(queue=TREES_QUEUE))


def stage_of(attempt: Attempt) -> str:
    payload: Any = attempt.payload
    return str(payload["chain"]["stage"]) if isinstance(payload, dict) and "chain" in payload else attempt.job_id
