"""Identities of processes: a process that has ended is recognised, and no other one is mistaken for it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot.adapters.processes import ProcProcesses

BOOT = "7bfa1a4e-0000-4000-8000-000000000001"

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture
def processes() -> ProcProcesses:
    return ProcProcesses(BOOT)


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def identity_of(pid: int, *, boot: str = BOOT, namespace: int | None = None, start: str | None = None) -> str:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    inode = Path("/proc/self/ns/pid").stat().st_ino if namespace is None else namespace
    return f"{boot} {inode} {pid} {start or fields[19]}"


def test_this_process_is_not_gone(processes: ProcProcesses) -> None:
    assert processes.own == identity_of(os.getpid())
    assert not processes.is_gone(processes.own)


def test_a_process_is_gone_after_it_was_killed(processes: ProcProcesses, child: "subprocess.Popen[bytes]") -> None:
    identity = identity_of(child.pid)
    assert not processes.is_gone(identity)

    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert processes.is_gone(identity), "a zombie"
    child.wait()
    assert processes.is_gone(identity)


def test_a_process_with_the_same_pid_and_another_start_time_is_another_one(
    processes: ProcProcesses, child: "subprocess.Popen[bytes]"
) -> None:
    assert processes.is_gone(identity_of(child.pid, start="1"))


def test_a_process_of_another_boot_or_namespace_is_never_gone(processes: ProcProcesses) -> None:
    assert not processes.is_gone(identity_of(os.getpid(), boot="another-boot", start="1"))
    assert not processes.is_gone(identity_of(os.getpid(), namespace=1, start="1"))


@pytest.mark.parametrize("text", ["", "text", "a b c", "1 2 3"])
def test_text_that_names_no_process_is_never_gone(processes: ProcProcesses, text: str) -> None:
    assert not processes.is_gone(text)
    assert not processes.is_gone(f"{processes.own} {text}")


def test_a_process_that_proc_hides_is_not_gone(tmp_path: Path) -> None:
    """As with the mount option hidepid."""
    proc = a_proc(tmp_path, os.getpid())
    processes = ProcProcesses(BOOT, proc)
    place = f"{BOOT} {(proc / 'self/ns/pid').stat().st_ino}"

    assert not processes.is_gone(f"{place} {os.getppid()} 1")


def test_a_proc_of_another_namespace_is_not_used(tmp_path: Path) -> None:
    processes = ProcProcesses(BOOT, a_proc(tmp_path, os.getpid() + 1))

    assert processes.own == ""
    assert not processes.is_gone(identity_of(os.getpid(), start="1"))


def test_without_proc_nothing_is_known(tmp_path: Path) -> None:
    processes = ProcProcesses(BOOT, tmp_path / "proc")

    assert processes.own == ""
    assert not processes.is_gone(f"{BOOT} 1 2 3")


def a_proc(directory: Path, pid: int) -> Path:
    """Return a /proc with one process, which is `self`."""
    proc = directory / "proc"
    (proc / str(pid) / "ns").mkdir(parents=True)
    (proc / str(pid) / "ns" / "pid").touch()
    (proc / "self").symlink_to(str(pid))
    return proc
