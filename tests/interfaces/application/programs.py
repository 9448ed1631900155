"""Runs code as a separate program, if a failure could hang or outlive the test process."""

import subprocess
import sys
import textwrap

_PRELUDE = """
import asyncio, multiprocessing, os, sys, threading, traceback
from foliot import Foliot
from foliot.engine.settings import Settings

app = Foliot(sys.argv[1])
app.shell("job", "true")

def ask():
    return app.wait(app.enqueue("job"))

def fork(work, leave=sys.exit):
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            leave(1)
        leave(0)
    return child

def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def count():
    return len(app.wait(app.runs.page(limit=1000)))
"""


def program(url: str, body: str) -> str:
    """Run a program, check that it succeeds in time, and return its stdout."""
    text = _PRELUDE + textwrap.dedent(body)
    ignore = "ignore::DeprecationWarning"  # newer Pythons warn about forks of processes with threads
    command = [sys.executable, "-W", ignore, "-c", text, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
