"""Programs of their own, for what would hang, or outlive, the process of the tests."""

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
    """What a program printed, which has ended well and in time."""
    text = _PRELUDE + textwrap.dedent(body)
    ignore = "ignore::DeprecationWarning"  # newer Pythons advise against what is tried here
    command = [sys.executable, "-W", ignore, "-c", text, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
