"""Which configuration file a command is about."""

from pathlib import Path
from typing import Final

from foliot.errors import FoliotError, InvalidInput

CONFIG: Final = "foliot.toml"


def find_config(given: Path | None) -> Path | None:
    """The file that was named, or the one here if there is one."""
    if given is None:
        here = Path(CONFIG)
        return here if here.is_file() else None
    if not given.exists():
        raise InvalidInput(f"the file {str(given)!a} does not exist", hint="Write a first one with: foliot init")
    return given


def require_config(given: Path | None) -> Path:
    path = find_config(given)
    if path is None:
        raise FoliotError(
            f"there is no {CONFIG} in {Path.cwd()}",
            hint="Write a first one with: foliot init; or name another one with --config.",
        )
    return path
