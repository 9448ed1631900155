"""Control groups: the files that are written, and the effect with a real kernel."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot.adapters.runners.process.children import subreaper
from foliot.adapters.runners.process.children.process_tag import ProcessTag
from foliot.adapters.runners.process.children.subreaper import Head
from foliot.adapters.runners.process.limits import control_groups, delegation
from foliot.adapters.runners.process.limits.control_groups import ControlGroup, ControlGroups
from foliot.adapters.runners.process.limits.delegation import find_directories
from foliot.adapters.runners.process.limits.rlimits import rlimits_of
from foliot.adapters.runners.process.spawn.environment import AttemptKey
from foliot.adapters.runners.process.termination import process_tree
from foliot.domain.job.kinds.process import ProcessLimits
from foliot.domain.run.outcome import Failure, Success
from tests.adapters.runners.attempts import ListLog, living, output_of, run, survive_fork_bomb, unique, zombies

MIB = 1 << 20

VERSION_1 = ("cgroup.procs", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control", "pids.max")
VERSION_2 = ("cgroup.procs", "cgroup.kill", "memory.max", "memory.swap.max", "memory.oom.group", "memory.events")


class Kernel:
    """Imitates the kernel: creates its files in each new directory below a place."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.files: tuple[str, ...] = ()
        make = Path.mkdir

        def mkdir(directory: Path, mode: int = 0o777) -> None:
            make(directory, mode)
            for name in self.files if directory.parent == place else ():
                (directory / name).touch()

        patch.setattr(Path, "mkdir", mkdir)

    def contents(self) -> dict[str, str]:
        [group] = self.place.iterdir()
        return {file.name: file.read_text() for file in group.iterdir() if file.read_text()}


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    return Kernel(tmp_path, monkeypatch)


@pytest.mark.proves("Z45")
def test_cgroup_version_2_limits_memory_without_swap_and_kills_the_whole_tree(kernel: Kernel) -> None:
    kernel.files = (*VERSION_2, "pids.max")

    group = ControlGroups({"memory": kernel.place, "pids": kernel.place}).make(ProcessLimits(memory=MIB, processes=9))

    assert group is not None
    assert group.controllers == {"memory", "pids"}
    assert kernel.contents() == {
        "memory.max": "1048576",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "9",
    }


@pytest.mark.proves("Z45")
def test_cgroup_version_1_limits_memory_with_and_without_swap(kernel: Kernel) -> None:
    kernel.files = VERSION_1

    ControlGroups({"memory": kernel.place}).make(ProcessLimits(memory=MIB, processes=9))

    assert kernel.contents() == {"memory.limit_in_bytes": "1048576", "memory.memsw.limit_in_bytes": "1048576"}


@pytest.mark.parametrize(
    ("files", "set_files"),
    [
        (VERSION_1, {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}),
        (VERSION_2, {"memory.max", "memory.swap.max", "memory.oom.group"}),
    ],
    ids=["version 1", "version 2"],
)
def test_missing_files_for_swap_are_ignored(kernel: Kernel, files: tuple[str, ...], set_files: set[str]) -> None:
    """A kernel that does not count swap has no files for it."""
    kernel.files = tuple(name for name in files if "sw" not in name)

    group = ControlGroups({"memory": kernel.place}).make(ProcessLimits(memory=MIB))

    assert group is not None
    assert kernel.contents().keys() == {name for name in set_files if "sw" not in name}
    group.kill()


def test_each_attempt_has_its_own_control_group(kernel: Kernel) -> None:
    kernel.files = ("cgroup.procs", "pids.max")
    maker = ControlGroups({"pids": kernel.place})

    made = [maker.make(ProcessLimits(processes=count)) for count in (5, 6)]

    assert None not in made
    assert sorted((group / "pids.max").read_text() for group in kernel.place.iterdir()) == ["5", "6"]


def test_a_process_is_added_to_the_group_in_every_hierarchy(tmp_path: Path) -> None:
    places = {"memory": tmp_path / "memory", "pids": tmp_path / "pids"}
    for place in places.values():
        place.mkdir()
        (place / "cgroup.procs").touch()

    ControlGroup(places).add(7)

    assert [(place / "cgroup.procs").read_text() for place in places.values()] == ["7", "7"]


@pytest.mark.parametrize(
    ("file", "text", "is_out"),
    [
        ("memory.events", "low 0\nmax 12\noom 1\noom_kill 1\n", True),
        ("memory.events", "low 0\nmax 12\noom 0\noom_kill 0\n", False),
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", True),
        ("memory.oom_control", "oom_kill_disable 1\nunder_oom 0\noom_kill 0\n", False),
    ],
)
def test_an_out_of_memory_kill_is_detected(tmp_path: Path, file: str, text: str, is_out: bool) -> None:
    (tmp_path / file).write_text(text)

    assert ControlGroup({"memory": tmp_path}).is_out_of_memory == is_out


@pytest.mark.parametrize(("controllers", "bounds"), [({"memory"}, "nu"), ({"pids"}, "vn"), (set(), "vnu")])
def test_limits_of_a_control_group_are_not_set_as_rlimits(controllers: set[str], bounds: str) -> None:
    limits = ProcessLimits(memory=MIB, processes=9, files=64)

    assert "".join(bound.option for bound in rlimits_of(limits, controllers)) == bounds


def test_killing_an_attempt_kills_its_whole_control_group(tmp_path: Path) -> None:
    (tmp_path / "cgroup.kill").touch()
    nobody = 1 << 30

    process_tree._kill(
        {nobody}, Head(nobody, ProcessTag(1), AttemptKey("a-run", 1), ControlGroup({"memory": tmp_path}))
    )

    assert (tmp_path / "cgroup.kill").read_text() == "1"


@pytest.mark.parametrize(("text", "is_out"), [("max 3\n", True), ("max 0\n", False)])
def test_reaching_the_limit_on_processes_is_detected(tmp_path: Path, text: str, is_out: bool) -> None:
    (tmp_path / "pids.events").write_text(text)

    assert ControlGroup({"pids": tmp_path}).is_out_of_processes == is_out


def test_a_limit_without_a_controller_gets_no_control_group(kernel: Kernel) -> None:
    maker = ControlGroups({"pids": kernel.place})

    assert maker.make(ProcessLimits(memory=MIB, files=64)) is None
    assert list(kernel.place.iterdir()) == []


def test_an_attempt_runs_without_a_control_group_if_the_kernel_refuses_it(
    kernel: Kernel, caplog: pytest.LogCaptureFixture
) -> None:
    kernel.files = ()

    assert ControlGroups({"pids": kernel.place}).make(ProcessLimits(processes=9)) is None

    assert list(kernel.place.iterdir()) == []
    assert "control_group_refused" in caplog.text


SYSTEMD = ("0::/system.slice/foliot.service\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n")
SPLIT = (
    "9:pids:/jobs\n4:cpu,memory:/docker/abc\n0::/\n",
    "31 23 0:27 / {0}/pids rw shared:9 - cgroup cgroup rw,pids\n"
    "32 23 0:28 /docker/abc {0}/memory rw - cgroup cgroup rw,cpu,memory\n",
)


def surroundings(patch: pytest.MonkeyPatch, texts: tuple[str, str], mounted_at: Path) -> None:
    files = {
        Path("/proc/self/cgroup"): texts[0],
        Path("/proc/self/mountinfo"): texts[1].replace("/sys/fs/cgroup", str(mounted_at)).format(mounted_at),
    }
    read = delegation._read
    patch.setattr(delegation, "_read", lambda file: files[file] if file in files else read(file))


def delegate(patch: pytest.MonkeyPatch, *places: Path) -> None:
    def getxattr(path: Path, name: str) -> bytes:
        if path in places and name == "trusted.delegate":
            return b"1"
        raise OSError(errno.ENODATA, name)

    patch.setattr(os, "geteuid", lambda: 0)
    patch.setattr(os, "getxattr", getxattr)


def a_version_2_place(directory: Path, members: str = "") -> Path:
    directory.mkdir(parents=True)
    (directory / "cgroup.controllers").write_text("cpuset cpu io memory pids")
    (directory / "cgroup.subtree_control").touch()
    (directory / "cgroup.procs").write_text(members)
    return directory


def test_a_group_delegated_by_systemd_is_used_for_both_controllers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = a_version_2_place(tmp_path / "system.slice/foliot.service")
    surroundings(monkeypatch, SYSTEMD, tmp_path)
    delegate(monkeypatch, place)

    assert find_directories({}) == {"memory": place, "pids": place}
    assert (place / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_root_does_not_use_a_group_that_is_not_delegated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = a_version_2_place(tmp_path / "system.slice/foliot.service")
    surroundings(monkeypatch, SYSTEMD, tmp_path)
    delegate(monkeypatch)

    assert find_directories({}) == {}
    assert (place / "cgroup.subtree_control").read_text() == ""


def test_a_worker_without_root_uses_a_group_that_it_owns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = a_version_2_place(tmp_path / "system.slice/foliot.service")
    surroundings(monkeypatch, SYSTEMD, tmp_path)
    owner = place.stat().st_uid

    monkeypatch.setattr(os, "geteuid", lambda: owner or 1000)
    if owner == 0:
        os.chown(place, 1000, -1)

    assert find_directories({}) == {"memory": place, "pids": place}
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    assert find_directories({}) == {}


def test_each_hierarchy_of_cgroup_version_1_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids, memory = tmp_path / "pids/jobs", tmp_path / "memory"
    pids.mkdir(parents=True)
    memory.mkdir()
    surroundings(monkeypatch, SPLIT, tmp_path)
    delegate(monkeypatch, pids, memory)

    assert find_directories({}) == {"pids": pids, "memory": memory}


def test_the_version_2_hierarchy_is_found_on_a_hybrid_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = a_version_2_place(tmp_path / "unified/foliot.service")
    both = (
        "1:name=systemd:/foliot.service\n0::/foliot.service\n",
        "31 23 0:27 / {0}/systemd rw - cgroup cgroup rw,name=systemd\n"
        "32 23 0:28 / {0}/unified rw - cgroup2 cgroup2 rw\n",
    )
    surroundings(monkeypatch, both, tmp_path)
    delegate(monkeypatch, place)

    assert find_directories({}) == {"memory": place, "pids": place}


def test_foliot_cgroup_names_the_group_to_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "pids/given"
    named.mkdir(parents=True)
    surroundings(monkeypatch, SPLIT, tmp_path)
    delegate(monkeypatch)

    assert find_directories({"FOLIOT_CGROUP": "/given"}) == {"pids": named}
    assert find_directories({"FOLIOT_CGROUP": "/missing"}) == {}


def test_the_worker_moves_to_a_subgroup_to_enable_controllers(tmp_path: Path) -> None:
    place = a_version_2_place(tmp_path / "place", members=f"{os.getpid()}\n")

    assert delegation._enable(place) == {"memory", "pids"}

    assert (place / f"foliot-{os.getpid()}-worker/cgroup.procs").read_text() == str(os.getpid())


def test_a_worker_outside_the_delegated_group_is_not_moved(tmp_path: Path) -> None:
    place = a_version_2_place(tmp_path / "place", members="1\n")

    assert delegation._enable(place) == {"memory", "pids"}

    assert groups_in(place) == []


def test_a_worker_that_shares_its_group_moves_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)  # removing a real group removes its files
    place = a_version_2_place(tmp_path / "place", members=f"{os.getpid()}\n")
    (place / "cgroup.subtree_control").unlink()
    (place / "cgroup.subtree_control").mkdir()  # writing to it fails

    assert delegation._enable(place) == set()

    assert (place / "cgroup.procs").read_text() == str(os.getpid())
    assert not (place / f"foliot-{os.getpid()}-worker").exists()


def test_groups_of_dead_workers_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = a_version_2_place(tmp_path / "system.slice/foliot.service")
    gone, ours, other = place / "foliot-99999999-3", place / f"foliot-{os.getpid()}-3", place / "other"
    for directory in (gone, ours, other):
        directory.mkdir()
    surroundings(monkeypatch, SYSTEMD, tmp_path)
    delegate(monkeypatch, place)

    find_directories({})

    assert [directory.exists() for directory in (gone, ours, other)] == [False, True, True]


# -- with the real kernel


def a_real_group(mount: str) -> Path:
    place = Path("/sys/fs/cgroup", mount, f"tests-of-foliot-{os.getpid()}")
    try:
        place.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    return place


def groups_in(place: Path) -> list[Path]:
    return [entry for entry in place.iterdir() if entry.is_dir()]


@pytest.fixture
def pids(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = a_real_group("pids")
    monkeypatch.setenv("FOLIOT_CGROUP", f"/{place.name}")
    control_groups._control_groups.cache_clear()
    yield place
    control_groups._control_groups.cache_clear()
    place.rmdir()


@pytest.mark.proves("Z45", "E1", "E2")
async def test_a_fork_bomb_of_root_is_stopped_by_its_group_and_ended_with_its_run(pids: Path) -> None:
    word, log = unique(), ListLog()

    assert await survive_fork_bomb(word, log=log) <= 20

    assert (living(word), zombies(), groups_in(pids)) == ([], [], [])
    assert log.text("meta").endswith(b"the limit on processes was reached\n")


async def test_a_program_is_in_its_control_group_from_the_start(pids: Path) -> None:
    seen = await output_of(argv=["grep", ":pids:", "/proc/self/cgroup"], limits={"processes": 20})

    assert f"/{pids.name}/foliot-{os.getpid()}-0\n".encode() in seen


async def test_a_program_in_a_control_group_does_not_read_the_go_line(pids: Path) -> None:
    assert await output_of("cat", limits={"processes": 20}, stdin="\nhello\n") == b"\nhello\n"
    assert await output_of("cat; echo over", limits={"processes": 20}) == b"over\n"


@pytest.mark.proves("E1")
async def test_a_process_without_tag_and_variables_cannot_leave_its_control_group(pids: Path) -> None:
    word = unique()
    escape = f"env -i prlimit --locks=7 setsid -f sleep {word}"

    assert await run(f"{escape}; sleep 0.1", limits={"processes": 20}) == Success(exit_code=0)

    assert (living(word), zombies()) == ([], [])
    assert subreaper.subreaper()._members == {}  # pids are reused, so they must be forgotten


@pytest.mark.proves("E1")
async def test_a_control_group_finds_processes_without_a_list_of_children(
    pids: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = unique()
    monkeypatch.setattr(subreaper, "_adopt_and_list", lambda: None)
    monkeypatch.setattr(subreaper, "_current", None)
    escape = f"env -i prlimit --locks=7 setsid sleep {word} &"

    assert await run(f"{escape} sleep 0.1", limits={"processes": 20}) == Success(exit_code=0)

    assert living(word) == []
    monkeypatch.undo()
    subreaper.subreaper()._orphans.update(dict.fromkeys(zombies(), ProcessTag(1)))
    await run("true")


async def test_a_control_group_is_removed_if_the_program_cannot_be_started(pids: Path) -> None:
    assert isinstance(await run(argv=["/no/such/program"], limits={"processes": 20}), Failure)

    assert groups_in(pids) == []


def test_cgroup_kill_ends_all_members_together() -> None:
    place = a_real_group("unified")
    group = ControlGroup({"any": place})
    process = subprocess.Popen(["/bin/sh", "-c", "trap '' TERM; exec sleep 600"])
    group.add(process.pid)

    group.kill()

    assert process.wait() == -9
    assert group.members() == set()
    group.remove()
    assert not place.exists()
