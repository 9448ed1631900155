"""Creates the demo: a directory with the definitions of a shop, and a database with the history of its jobs."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from foliot.demo.past import open_in_the_past
from foliot.demo.scene import Story
from foliot.demo.shop_files import CONFIG, ShopFiles
from foliot.demo.world import make_history
from foliot.domain.instant import DAY, Instant
from foliot.testing.clock import VirtualClock

LEAST_DAYS: Final = 3
"""A shorter history would not have every kind of tick."""


class Demo(NamedTuple):
    """What to create."""

    directory: Path
    """Where the definitions are written to, and the database if `storage` names none."""
    storage: str | None = None
    days: int = 30
    seed: int = 1
    port: int | None = None
    """The port that the jobs expect the server at. None: the default port."""
    more_runs: int = 0
    """How many more runs of one job there are, at the beginning."""

    @property
    def config(self) -> Path:
        return self.directory / CONFIG

    @property
    def url(self) -> str:
        name = str(self.directory / "foliot.db").replace("%", "%25").replace("?", "%3F")
        return self.storage or f"sqlite:///{name}"


async def create_demo(
    demo: Demo, on_day: Callable[[int], None] = lambda day: None, *, ends: Instant | None = None
) -> None:
    """Create the files and the database, or nothing if it fails or is interrupted. Existing ones are refused.

    `ends`: the end of the history. None: now.
    """
    end = Instant(time.time_ns() // 1_000_000) if ends is None else ends
    story = Story(Instant(end - demo.days * DAY), end, demo.seed)
    shop = ShopFiles(demo.directory, demo.port)
    shop.refuse_existing()
    clock = VirtualClock(story.begins)
    try:
        async with open_in_the_past(demo.url, clock) as storage:
            await make_history(storage, clock, story, shop, on_day, more_runs=demo.more_runs)
    except BaseException:
        shop.remove()
        raise
