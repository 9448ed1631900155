"""The application with the random workflows of a seed, configured by the environment."""

import os
from pathlib import Path

from tests.scenarios.crash.graphs import build_graphs

app = build_graphs(os.environ["FOLIOT_STORAGE"], Path(os.environ["CRASH_EFFECTS"]), int(os.environ["CRASH_GRAPHS"]))
