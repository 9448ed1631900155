"""The application of workflows that a seed has drawn, as the environment describes it."""

import os
from pathlib import Path

from tests.scenarios.crash.graphs import build_graphs

app = build_graphs(os.environ["FOLIOT_STORAGE"], Path(os.environ["CRASH_EFFECTS"]), int(os.environ["CRASH_GRAPHS"]))
