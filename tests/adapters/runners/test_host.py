"""What doctor examines on this machine."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from foliot.adapters.processes import ProcProcesses
from foliot.adapters.runners.host import ThisHost
from foliot.adapters.runners.process.limits import delegation
from foliot.adapters.runners.process.limits.delegation import Hierarchy, available_controllers

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture
def processes() -> ProcProcesses:
    return ProcProcesses("boot")


def test_the_limits_of_a_running_worker_are_read(processes: ProcProcesses) -> None:
    facts = ThisHost(processes).facts(["boot elsewhere 1 2", processes.own])

    assert facts.is_server
    assert facts.open_files == resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def test_without_a_worker_on_this_machine_the_limits_of_this_process_are_read(processes: ProcProcesses) -> None:
    facts = ThisHost(processes).facts(["boot elsewhere 1 2"])

    assert not facts.is_server
    assert 0 < facts.runs_for_files < facts.open_files <= 1 << 20


def test_a_process_that_has_ended_is_not_examined(processes: ProcProcesses) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        place, _, _ = processes.own.rsplit(" ", 2)
        start = Path(f"/proc/{child.pid}/stat").read_text().rpartition(") ")[2].split()[19]
        identity = f"{place} {child.pid} {start}"
        assert processes.living_pid(identity) == child.pid
        assert processes.living_pid(f"{place} {child.pid} 0") is None
        child.kill()

    assert processes.living_pid(identity) is None


def test_programs_and_readable_files_are_found(processes: ProcProcesses, tmp_path: Path) -> None:
    host, file = ThisHost(processes), tmp_path / "file"
    assert host.has_program("sh")
    assert not host.has_program("no-such-program")
    assert not host.is_readable_by_all(str(file))

    file.touch(mode=0o644)
    file.chmod(0o644)
    assert host.is_readable_by_all(str(file))
    file.chmod(0o640)
    assert not host.is_readable_by_all(str(file))


def test_controllers_of_a_delegated_group_are_available_and_nothing_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = tmp_path / "service"
    group.mkdir()
    (group / "cgroup.controllers").write_text("cpu memory pids")
    monkeypatch.setattr(delegation, "_hierarchies", lambda process: [Hierarchy(frozenset(), tmp_path, "/service")])

    assert available_controllers({delegation.VARIABLE: "service"}) == {"memory", "pids"}
    assert [file.name for file in group.iterdir()] == ["cgroup.controllers"]


def test_controllers_of_a_worker_in_its_own_subgroup_are_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = os.getpid()
    (tmp_path / f"{delegation.PREFIX}{pid}-worker").mkdir()
    (tmp_path / "cgroup.controllers").write_text("memory")
    own = f"/{delegation.PREFIX}{pid}-worker"
    monkeypatch.setattr(delegation, "_hierarchies", lambda process: [Hierarchy(frozenset(), tmp_path, own)])

    assert available_controllers({}, pid) == {"memory"}
