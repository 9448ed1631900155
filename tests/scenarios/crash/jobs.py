"""The jobs of the crash tests. Each records what it does in the effect file."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from foliot import Foliot, Workflow, current_run
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.schedule.project_pause import PauseOrder
from foliot.service.queries.run_view import RunView
from tests.scenarios.crash.effects import effect, shell_note
from tests.scenarios.crash.plans import PLANS

OFTEN: Final = 100
"""A run that is lost this often is still retried."""
_WAIT: Final = 'while [ ! -e "$CRASH_GATE" ]; do sleep 0.05; done'


def build(storage: str, effects: Path, gate: Path, plan: str) -> Foliot:
    """Build the application. Gated jobs run until the gate file exists."""
    app = Foliot(storage)
    _add_functions(app, effects, gate)
    _add_dangers(app, effects)
    _add_commands(app, {"CRASH_EFFECTS": str(effects), "CRASH_GATE": str(gate)})
    _add_workflow(app)
    _add_hook(app)
    app.schedule("victim", "victim", cron="@yearly")
    for name, fields in PLANS[plan].items():
        app.schedule(name, "quick", **fields)
    return app


def fanout(effects: Path, gate: Path, items: Sequence[object], *, gated: bool = False, **spec: Any) -> JobSpec:
    """Build a fanout over the job `quick`, with a reducer that records what it does and may wait for the gate."""
    variables = {"CRASH_EFFECTS": str(effects), "CRASH_GATE": str(gate)}
    command = "; ".join([shell_note("begin"), *([_WAIT] if gated else []), shell_note("end")])
    known = {
        "job": "quick",
        "items": items,
        "reducer": {"spec": {"command": command, "env": variables}},
        **spec,
    }
    return JobSpec(kind=FANOUT, spec=known, options=Options(queue=TREES_QUEUE, max_lost=OFTEN))


def gate_of(gate: Path, attempt: int) -> Path:
    """Return the gate file of one attempt."""
    return gate.with_name(f"{gate.name}-{attempt}")


def _add_functions(app: Foliot, effects: Path, gate: Path) -> None:
    @app.job(max_lost=OFTEN)
    async def quick(seconds: float = 0.0) -> list[int]:
        run = current_run()
        with effect(effects, run.run_id, run.attempt):
            await asyncio.sleep(seconds)
        return [run.attempt, os.getpid()]

    @app.job(max_concurrent=1, max_lost=OFTEN)
    async def limited() -> list[int]:
        return await quick()

    @app.job(max_lost=OFTEN)
    def threaded(seconds: float = 0.0) -> list[int]:
        run = current_run()
        with effect(effects, run.run_id, run.attempt):
            time.sleep(seconds)
        return [run.attempt, os.getpid()]

    @app.job(max_lost=OFTEN)
    async def gated() -> list[int]:
        run = current_run()
        with effect(effects, run.run_id, run.attempt):
            while not any(map(Path.exists, (gate, gate_of(gate, run.attempt)))):
                await asyncio.sleep(0.02)
        return [run.attempt, os.getpid()]


def _add_workflow(app: Foliot) -> None:
    """Add a diamond with a final step, whose steps are jobs that record what they do."""
    flow = Workflow("flow", max_lost=OFTEN)
    flow.step("first", job="quick")
    flow.step("left", job="quick").after("first")
    flow.step("right", job="threaded").after("first")
    flow.step("never", job="quick").after("first", "failure")
    flow.step("join", job="quick").after("left").after("right")
    flow.step("last", job="quick").final()
    app.workflow(flow)


def _add_hook(app: Foliot) -> None:
    """Add a named hook, so that its position in the events is stored while processes die."""

    @app.on_run_end(name="audit")
    async def ended(run: RunView) -> None: ...


def _add_dangers(app: Foliot, effects: Path) -> None:
    @app.job(retries=5, retry_delay=0.05, retry_factor=1, max_lost=OFTEN)
    async def flaky() -> list[int]:
        """Prints, fails once, and succeeds."""
        run = current_run()
        run.log(f"attempt {run.attempt}")
        if run.attempt == 1:
            raise ConnectionError("no answer")
        with effect(effects, run.run_id, run.attempt):
            return [run.attempt, os.getpid()]

    @app.job(max_lost=OFTEN)
    async def reporting() -> None:
        """Reports progress, and ends when it is saved."""
        run = current_run()
        with effect(effects, run.run_id, run.attempt):
            run.progress(0.5, f"attempt {run.attempt}")
            while (await app.runs.get(run.run_id)).progress is None:
                await asyncio.sleep(0.02)

    @app.job(max_lost=1)
    async def murderous() -> None:
        """Kills its worker."""
        run = current_run()
        with effect(effects, run.run_id, run.attempt):
            os.kill(os.getpid(), signal.SIGKILL)

    @app.job(max_lost=OFTEN)
    async def meddle() -> None:
        """Does from inside what people do from outside, so that the process can die in the middle of it."""
        key = current_run().idempotency_key
        await app.enqueue("quick", dedupe_key=f"{key}-now")
        await app.runs.cancel(await app.enqueue("quick", dedupe_key=f"{key}-later", delay=3600))
        storage = (await app.open()).storage
        await storage.definitions.pause_project(PauseOrder(note="meddling"))
        await storage.definitions.resume_project()
        await storage.definitions.pause_schedules([ScheduleId("victim")], paused=True)
        await storage.definitions.delete_schedules([ScheduleId("victim")])
        await storage.definitions.delete_jobs([JobId("victim")])


def _add_commands(app: Foliot, variables: dict[str, str]) -> None:
    app.shell("victim", "true", max_lost=OFTEN)
    app.shell("command", f"{shell_note('begin')}; {shell_note('end')}", env=variables, max_lost=OFTEN)
    app.shell("gated-command", f"{shell_note('begin')}; {_WAIT}; {shell_note('end')}", env=variables, max_lost=OFTEN)
