"""The user of an isolated call."""

import os
import pwd
import shutil
import subprocess
import sys

import pytest

from foliot.domain.run.outcome import Reason, Success
from tests.adapters.runners.attempts import only_root
from tests.adapters.runners.isolated_scene import Scene, scene

__all__ = ["scene"]

OTHER = "nobody"


def may_start(program: str) -> bool:
    try:
        return subprocess.run([program, "-c", ""], user=OTHER, check=False).returncode == 0
    except PermissionError:
        return False


@only_root
@pytest.mark.proves("Z44")
async def test_a_function_can_run_as_another_user(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [sys.executable, shutil.which("python3", path=os.defpath) or ""]
    monkeypatch.setattr(sys, "executable", next(filter(may_start, programs)))

    for _ in range(2):  # never in a warm interpreter, which runs as the user of the worker
        outcome = await scene.call(call="os:getuid", user=OTHER, working_dir="/")

        assert outcome == Success(str(pwd.getpwnam(OTHER).pw_uid).encode())


@only_root
@pytest.mark.proves("Z44")
async def test_a_function_with_a_user_cannot_gain_privileges(scene: Scene) -> None:
    source = "def job(): return 'NoNewPrivs:\\t1' in open('/proc/self/status').read()"

    assert await scene.call(source, user="root") == Success(b"true")


async def test_an_isolated_function_with_a_missing_user_is_refused(scene: Scene) -> None:
    failure = await scene.failure("def job(): pass", user="no-such-user")

    assert (failure.reason, failure.retryable) == (Reason.LAUNCH_FAILED, False)
