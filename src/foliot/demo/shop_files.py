"""The files that define the jobs of the demo, and earlier versions of them."""

from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from foliot.errors import FoliotError

CONFIG: Final = "foliot.toml"
_FILES: Final = (CONFIG, "tasks.py")
_ADDRESS: Final = "127.0.0.1:7070"

Change = tuple[str, str]
"""A text of the configuration, and what was there in an earlier version."""

CALM: Final[tuple[Change, ...]] = (('every = "30s"', 'every = "1h"'), ('every = "3m"', 'every = "2h"'))
"""The version before the live jobs ran often: a month of every 30 seconds would take too long to make."""
EARLY: Final[tuple[Change, ...]] = (
    *CALM,
    ('timeout = "2h"\nretries = 2\nretry_delay = "5m"', 'timeout = "1h"\nretries = 1'),
    ('cron = "*/30 7-21 * * *"', 'cron = "0 7-21 * * *"'),
    ("Sends new orders to the warehouse and reads back what was shipped.", "Sends new orders to the warehouse."),
    ("command = \"echo 'posted in #shop'\"", "command = \"echo 'mailed to the team'\""),
)
"""The first version."""


class ShopFiles(NamedTuple):
    """The files in their directory."""

    directory: Path
    port: int | None = None
    """The port of the server that the jobs ask. None: the default one."""

    def refuse_existing(self) -> None:
        for name in _FILES:
            if (path := self.directory / name).exists():
                raise FoliotError(
                    f"the file {path} exists already",
                    hint=f"Name another directory with --directory, or serve this one with: foliot serve --config "
                    f"{self.directory / CONFIG}",
                )

    def write(self, changes: tuple[Change, ...] = ()) -> Path:
        """Write a version of the files and return the path of the configuration."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            text = (files("foliot.demo") / "shop" / name).read_text()
            for now, before in changes:
                text = text.replace(now, before)
            if self.port is not None:
                text = text.replace(_ADDRESS, f"127.0.0.1:{self.port}")
            (self.directory / name).write_text(text)
        return self.directory / CONFIG

    def remove(self) -> None:
        for name in _FILES:
            (self.directory / name).unlink(missing_ok=True)
