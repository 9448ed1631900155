"""The application of the crash tests, configured by the environment."""

import os
from pathlib import Path

from tests.scenarios.crash.jobs import build

app = build(
    os.environ["FOLIOT_STORAGE"],
    Path(os.environ["CRASH_EFFECTS"]),
    Path(os.environ["CRASH_GATE"]),
    os.environ["CRASH_PLAN"],
)
