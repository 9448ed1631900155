"""How long `foliot verify` takes."""

import subprocess
import sys
import time

from bench.children import ChildFailed
from bench.orders import Order


def verify_seconds(order: Order) -> float:
    """Return the seconds of the command, its start included."""
    command = [sys.executable, "-m", "foliot", "verify", f"--storage={order.url}"]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    if done.returncode:
        raise ChildFailed(f"foliot verify: {done.stdout[-200:]} {done.stderr[-200:]}")
    return took
