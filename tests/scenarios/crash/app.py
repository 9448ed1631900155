"""The application that the processes of the crash tests serve, as the environment describes it."""

import os
from pathlib import Path

from tests.scenarios.crash.jobs import build

app = build(
    os.environ["FOLIOT_STORAGE"],
    Path(os.environ["CRASH_EFFECTS"]),
    Path(os.environ["CRASH_GATE"]),
    os.environ["CRASH_PLAN"],
)
