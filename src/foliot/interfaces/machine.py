"""What an imported crontab takes from the machine: the account, home directories and the time zone."""

import os
import pwd
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from foliot import cron
from foliot.errors import InvalidInput

ROOT: Final = Path("/")


def current_account() -> str:
    """Return the name of the account that this process runs as."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def home_of(account: str) -> str | None:
    """Return the home directory of an account, or None if it does not exist."""
    try:
        return pwd.getpwnam(account).pw_dir
    except (KeyError, ValueError):
        return None


# -- the time zone


def machine_timezone() -> str | None:
    """Return the time zone by which cron runs on this machine; None if its name cannot be found."""
    return next((name for name in _zone_names() if _is_zone(name)), None)


def _zone_names() -> Iterator[str]:
    """Yield names, the one that the C library uses first."""
    yield _zone_of_path(os.path.realpath(ROOT / "etc/localtime"))
    with suppress(OSError):
        yield (ROOT / "etc/timezone").read_text(errors="replace").strip()
    yield _zone_of_path(os.environ.get("TZ", "").removeprefix(":"))


def _zone_of_path(path: str) -> str:
    return re.sub(r".*/zoneinfo/(?:posix/|right/)?", "", path)


def _is_zone(name: str) -> bool:
    try:
        cron.zone(name)
    except InvalidInput:
        return False
    return True
