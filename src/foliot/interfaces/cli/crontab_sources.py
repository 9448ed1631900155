"""Where crontabs are on this machine, and the scripts that belong to them."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from foliot.errors import FoliotError
from foliot.interfaces import machine
from foliot.interfaces.machine import current_account

_SPOOLS: Final = ("var/spool/cron/crontabs", "var/spool/cron", "var/spool/cron/tabs", "var/cron/tabs")
_TIMEOUT: Final = 30
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
"""The names of files that cron and run-parts take from a directory."""


class Source(NamedTuple):
    """A crontab. `owner` is None if its lines name their users."""

    file: str
    text: str
    owner: str | None


# -- crontabs


def read_user_crontab(account: str) -> Source:
    """Return the crontab that `crontab -l` prints for an account; without that program, its file in the spool."""
    other = [] if account == current_account() else ["-u", account]
    try:
        done = subprocess.run(  # noqa: S603 - the name is one argument, not a command line
            ["crontab", "-l", *other],  # noqa: S607 - its place differs between systems
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        refusal = f"crontab could not be started: {error}"
    else:
        if done.returncode == 0:
            return Source("crontab", _decode(done.stdout), account)
        refusal = _decode(done.stderr).strip() or f"crontab ended with {done.returncode}"
    for spool in _SPOOLS:
        file = machine.ROOT / spool / account
        if _is_readable(file):
            return read_file(file, account)
    raise FoliotError(
        f"the crontab of {account[:64]!a} could not be read: {refusal}",
        hint="Name a file with a crontab, or - for standard input: foliot import crontab FILE",
    )


def read_file(file: Path, owner: str | None) -> Source:
    """Return a file as a crontab."""
    try:
        return Source(str(file), _decode(file.read_bytes()), owner)
    except OSError as error:
        hint = "Name a file with a crontab, or - for standard input."
        raise FoliotError(f"{file} could not be read: {(error.strerror or str(error)).lower()}", hint=hint) from None


def read_system_crontabs() -> tuple[list[Source], list[Path]]:
    """Return /etc/crontab and the files of /etc/cron.d, and the files there that cron may ignore by their names."""
    main = machine.ROOT / "etc/crontab"
    files = [main] if main.exists() else []
    named = sorted(_files(machine.ROOT / "etc/cron.d"))
    files += [file for file in named if _NAME.fullmatch(file.name)]
    skipped = [file for file in named if not _NAME.fullmatch(file.name) and not file.name.startswith(".")]
    if not files:
        raise FoliotError(f"there is no {main}, and no file in {main.parent}/cron.d", hint="Name a file to import.")
    return [read_file(file, None) for file in files], skipped


def is_system_crontab(file: Path) -> bool:
    """Return whether the lines of a file name their users, judged by its place."""
    place = file.absolute()
    return place == machine.ROOT / "etc/crontab" or place.parent == machine.ROOT / "etc/cron.d"


def unused_directories(text: str) -> list[Path]:
    """Return the directories of scripts that a text does not name."""
    directories = [machine.ROOT / "etc" / f"cron.{name}" for name in ("hourly", "daily", "weekly", "monthly")]
    return [place for place in directories if list_scripts(f"/etc/{place.name}") and f"/etc/{place.name}" not in text]


def list_scripts(directory: str) -> list[str] | None:
    """Return the names of the programs that run-parts starts, in its order; None if the directory cannot be read."""
    place = machine.ROOT / directory.lstrip("/")
    if not place.is_dir() or not os.access(place, os.R_OK | os.X_OK):
        return None
    return sorted(file.name for file in _files(place) if _NAME.fullmatch(file.name) and os.access(file, os.X_OK))


def _files(directory: Path) -> Iterator[Path]:
    if directory.is_dir():
        yield from (file for file in directory.iterdir() if file.is_file())


def _is_readable(file: Path) -> bool:
    try:
        return file.is_file() and os.access(file, os.R_OK)
    except OSError:
        return False


def _decode(data: bytes) -> str:
    return data.decode(errors="surrogateescape")
