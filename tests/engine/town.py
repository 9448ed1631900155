"""An application with gates between its jobs."""

from collections.abc import Callable
from typing import Any, Final

from foliot import Foliot
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.service.queries.execution_view import StepView
from foliot.service.queries.run_view import RunView
from foliot.testing.inline import InlineEngine

A, B, DIGEST, EXTRACT, SCAN = map(JobId, ("a", "b", "digest", "extract", "scan"))
_FIRST: Final = {"name": "first", "job": EXTRACT}
_AFTER: Final = {"name": "after", "after": {"step": "load", "when": ["skipped"]}, "job": SCAN}


class Town:
    """Jobs that record when they run, and fail if the test sets it."""

    def __init__(self, app: Foliot) -> None:
        self.app = app
        self.ran: list[str] = []
        self.failing: set[str] = set()
        for name in (A, B, DIGEST, EXTRACT, SCAN):
            self.app.job(id=name)(self._work(name))

    def _work(self, name: str) -> Callable[[], None]:
        def work() -> None:
            self.ran.append(name)
            if name in self.failing:
                raise ValueError(name)

        return work

    async def gate(self, **fields: object) -> None:
        """Gate the digest on two other jobs."""
        gate = Gate(depends_on=(A, B), **fields)  # type: ignore[arg-type]  # a test names what it means
        spec = JobSpec(kind="workflow", inner_kind="python", spec={"handler": DIGEST}, gate=gate, source="app")
        await (await self.app.open()).jobs.put({DIGEST: spec})

    async def run(self, engine: InlineEngine, job: str) -> RunView:
        run_id = await self.app.enqueue(job)
        await engine.run_until_idle()
        return await self.app.runs.get(run_id)

    async def deploy(self, **load: Any) -> None:
        """Deploy a workflow with this as its second step."""
        load = {"name": "load", "after": "first", **load}
        await self.app.workflows.deploy({"id": "etl", "steps": [_FIRST, load, _AFTER]})

    async def passage(self, engine: InlineEngine) -> dict[str, StepView]:
        execution_id = await self.app.workflows.start("etl")
        await engine.join()
        execution = await self.app.workflows.status(execution_id)
        assert execution is not None
        return {step.name: step for step in execution.steps}
