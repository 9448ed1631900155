"""An application with a named hook that appends a line to a file for each run that starts and ends."""

import asyncio
import os
from pathlib import Path

from foliot import Foliot
from foliot.service.queries.run_view import RunView
from tests.scenarios.crash.effects import note

EFFECTS = Path(os.environ["CRASH_EFFECTS"])

app = Foliot(os.environ["FOLIOT_STORAGE"])


@app.job(max_lost=100)
async def quick() -> None: ...


@app.on_run_start(name="audit")
async def started(run: RunView) -> None:
    await asyncio.sleep(0.01)  # a kill hits between two calls
    note(EFFECTS, "start", run.id, run.attempt)


@app.on_run_end(name="audit")
async def ended(run: RunView) -> None:
    note(EFFECTS, "end", run.id, run.attempt)
