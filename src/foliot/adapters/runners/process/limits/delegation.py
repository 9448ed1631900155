"""Finds the directories in which the worker may create control groups: only those that are delegated to it.

That is the worker's own group, if the worker's user owns it or systemd delegated it (`Delegate=yes`), or the group that
FOLIOT_CGROUP names. All other groups belong to other services, even if root could write there.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

PREFIX: Final = "foliot-"
VARIABLE: Final = "FOLIOT_CGROUP"

Directories = Mapping[str, Path]
"""Directories by controller, `memory` or `pids`. In version 2 of the interface both have the same."""

_CONTROLLERS: Final = frozenset({"memory", "pids"})
_DELEGATED: Final = ("user.delegate", "trusted.delegate")


class Hierarchy(NamedTuple):
    """One hierarchy of groups, and the group of this process in it."""

    controllers: frozenset[str]
    """Empty for version 2, where each group lists its own."""
    mount: Path
    path: str


def find_directories(environ: Mapping[str, str]) -> Directories:
    """Return the directories in which groups may be created; empty if there is none."""
    named = environ.get(VARIABLE)
    directories: dict[str, Path] = {}
    for hierarchy in _hierarchies():
        directory = hierarchy.mount / (named or hierarchy.path).strip("/")
        if not _is_delegated(directory, is_named=named is not None):
            continue
        _remove_leftovers(directory)
        for controller in (hierarchy.controllers or _enable(directory)) & _CONTROLLERS:
            directories[controller] = directory
    return directories


def available_controllers(environ: Mapping[str, str], pid: int | None = None) -> frozenset[str]:
    """Return what a worker can limit by control groups: that with this PID, or one started like this process. Unlike
    `find_directories` this changes nothing."""
    named = environ.get(VARIABLE)
    found: set[str] = set()
    for hierarchy in _hierarchies(str(pid or "self")):
        directory = hierarchy.mount / (named or hierarchy.path).strip("/")
        if directory.name == f"{PREFIX}{pid}-worker":
            directory = directory.parent  # the worker has moved itself into a subgroup
        elif not (_is_delegated(directory, is_named=named is not None) or _is_owned(directory, pid)):
            continue
        found |= hierarchy.controllers or set(_read(directory / "cgroup.controllers").split())
    return frozenset(found & _CONTROLLERS)


def _is_owned(directory: Path, pid: int | None) -> bool:
    """Return whether a group belongs to the user of another process, who is not root."""
    with suppress(OSError):
        user = Path("/proc", str(pid)).stat().st_uid
        return user not in (0, os.geteuid()) and directory.stat().st_uid == user
    return False


def _hierarchies(process: str = "self") -> Iterator[Hierarchy]:
    mounts = list(_mounts())
    for line in _read(Path("/proc", process, "cgroup")).splitlines():
        _, names, path = line.split(":", 2)
        controllers = frozenset(filter(None, names.split(",")))
        for kind, options, root, mount in mounts:
            if kind == ("cgroup" if controllers else "cgroup2") and controllers <= options:
                yield Hierarchy(controllers, mount, path.removeprefix(root.rstrip("/")))
                break


def _mounts() -> Iterator[tuple[str, frozenset[str], str, Path]]:
    """Return kind, options, root and mount point of each mounted hierarchy."""
    for line in _read(Path("/proc/self/mountinfo")).splitlines():
        place, _, what = line.partition(" - ")
        root, mount = place.split()[3:5]
        kind, *_, options = what.split()
        if kind in {"cgroup", "cgroup2"}:
            yield kind, frozenset(options.split(",")), root, Path(mount)


def _is_delegated(directory: Path, *, is_named: bool) -> bool:
    if not (directory.is_dir() and os.access(directory, os.W_OK)):
        return False
    if is_named:
        return True
    if os.geteuid() != 0:
        return directory.stat().st_uid == os.geteuid()
    for attribute in _DELEGATED:
        with suppress(OSError):
            if os.getxattr(directory, attribute) == b"1":
                return True
    return False


def _enable(directory: Path) -> frozenset[str]:
    """Enable the wanted controllers for the groups below. Return those that are enabled."""
    offered = _CONTROLLERS & set(_read(directory / "cgroup.controllers").split())
    missing = offered - set(_read(directory / "cgroup.subtree_control").split())
    if missing:
        subgroup = _move_to_subgroup(directory)
        try:
            (directory / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(missing)))
        except OSError:
            # Other processes are in this group as well: undo the change.
            _move_back(directory, subgroup)
            return frozenset(offered - missing)
    return frozenset(offered)


def _move_to_subgroup(directory: Path) -> Path | None:
    """Move the worker into a subgroup: a group that enables controllers must have no processes of its own."""
    if str(os.getpid()) not in _read(directory / "cgroup.procs").split():
        return None
    subgroup = directory / f"{PREFIX}{os.getpid()}-worker"
    with suppress(OSError):
        subgroup.mkdir()
        (subgroup / "cgroup.procs").write_text(str(os.getpid()))
    return subgroup


def _move_back(directory: Path, subgroup: Path | None) -> None:
    if subgroup is not None:
        with suppress(OSError):
            (directory / "cgroup.procs").write_text(str(os.getpid()))
            subgroup.rmdir()


def _remove_leftovers(directory: Path) -> None:
    """Remove the groups of workers that are gone. The kernel refuses to remove a group that is not empty."""
    for group in directory.glob(f"{PREFIX}*-*"):
        worker = group.name.split("-")[1]
        if not Path("/proc", worker).exists():
            with suppress(OSError):
                group.rmdir()


def _read(file: Path) -> str:
    with suppress(OSError):
        return file.read_text()
    return ""
