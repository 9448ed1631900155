"""Where the worker may make control groups: only below a directory that was given to it.

That is the worker's own group, if it belongs to the worker's user or systemd says that it was delegated
(`Delegate=yes`); or the group that FOLIOT_CGROUP names. Every other one belongs to somebody else, also where root could
write.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

PREFIX: Final = "foliot-"
VARIABLE: Final = "FOLIOT_CGROUP"

Places = Mapping[str, Path]
"""Directories by controller, `memory` or `pids`. In version 2 of the interface it is the same for both."""

_WANTED: Final = frozenset({"memory", "pids"})
_DELEGATED: Final = ("user.delegate", "trusted.delegate")


class Hierarchy(NamedTuple):
    """One tree of groups, and the place of this process in it."""

    controllers: frozenset[str]
    """Empty for version 2, where each group names its own."""
    mount: Path
    path: str


def find_places(environ: Mapping[str, str]) -> Places:
    """All places where groups with these limits may be made; empty where there is none."""
    named = environ.get(VARIABLE)
    places: dict[str, Path] = {}
    for hierarchy in _hierarchies():
        directory = hierarchy.mount / (named or hierarchy.path).strip("/")
        if not _is_given(directory, is_named=named is not None):
            continue
        _remove_leftovers(directory)
        for controller in (hierarchy.controllers or _enable(directory)) & _WANTED:
            places[controller] = directory
    return places


def _hierarchies() -> Iterator[Hierarchy]:
    mounts = list(_mounts())
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, names, path = line.split(":", 2)
        controllers = frozenset(filter(None, names.split(",")))
        for kind, options, root, mount in mounts:
            if kind == ("cgroup" if controllers else "cgroup2") and controllers <= options:
                yield Hierarchy(controllers, mount, path.removeprefix(root.rstrip("/")))
                break


def _mounts() -> Iterator[tuple[str, frozenset[str], str, Path]]:
    """Kind, options, root and mount point of each mounted tree of groups."""
    for line in _read(Path("/proc/self/mountinfo")).splitlines():
        place, _, what = line.partition(" - ")
        root, mount = place.split()[3:5]
        kind, *_, options = what.split()
        if kind in {"cgroup", "cgroup2"}:
            yield kind, frozenset(options.split(",")), root, Path(mount)


def _is_given(directory: Path, *, is_named: bool) -> bool:
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
    """Hand the wanted controllers on to the groups below. Returns those that they have."""
    offered = _WANTED & set(_read(directory / "cgroup.controllers").split())
    missing = offered - set(_read(directory / "cgroup.subtree_control").split())
    if missing:
        aside = _step_aside(directory)
        try:
            (directory / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(missing)))
        except OSError:
            # Others live in this group as well: it stays as it was.
            _step_back(directory, aside)
            return frozenset(offered - missing)
    return frozenset(offered)


def _step_aside(directory: Path) -> Path | None:
    """A group with groups below it may have no processes of its own: the worker moves into one of them."""
    if str(os.getpid()) not in _read(directory / "cgroup.procs").split():
        return None
    aside = directory / f"{PREFIX}{os.getpid()}-worker"
    with suppress(OSError):
        aside.mkdir()
        (aside / "cgroup.procs").write_text(str(os.getpid()))
    return aside


def _step_back(directory: Path, aside: Path | None) -> None:
    if aside is not None:
        with suppress(OSError):
            (directory / "cgroup.procs").write_text(str(os.getpid()))
            aside.rmdir()


def _remove_leftovers(directory: Path) -> None:
    """Groups of workers that are gone. One that is not empty cannot be removed, which is well."""
    for group in directory.glob(f"{PREFIX}*-*"):
        worker = group.name.split("-")[1]
        if not Path("/proc", worker).exists():
            with suppress(OSError):
                group.rmdir()


def _read(file: Path) -> str:
    with suppress(OSError):
        return file.read_text()
    return ""
