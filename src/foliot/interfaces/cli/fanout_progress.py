"""Following a fanout: a progress bar on a terminal, elsewhere a line whenever enough has changed; then its summary."""

import asyncio
import sys
import time
from typing import Final

from foliot.domain.ids import RunId
from foliot.errors import StorageUnavailable
from foliot.interfaces.cli.output import print_note
from foliot.interfaces.cli.progress import ProgressLine
from foliot.interfaces.cli.render.fanout import counts_text, item_row, progress_text
from foliot.interfaces.cli.render.format import bar
from foliot.interfaces.cli.render.text import escaped
from foliot.service.queries.fanout_view import FanoutView
from foliot.service.services import Services

_POLL: Final = 0.25
_QUIET: Final = 10.0
"""Seconds between two lines, where the output is no terminal."""
_FAILED_SHOWN: Final = 5


async def follow_fanout(services: Services, run_id: RunId) -> None:
    """Print the progress of a fanout on standard error until it is over, then its summary."""
    is_terminal = sys.stderr.isatty()
    printed, next_line = "", time.monotonic()
    with ProgressLine(delay=0) as line:
        while True:
            fanout, is_over = await _state(services, run_id)
            if is_over:
                break
            if fanout is not None and is_terminal:
                line.show(f"{bar(fanout.ended / fanout.items if fanout.items else 1.0)} {progress_text(fanout)}")
            elif fanout is not None and time.monotonic() >= next_line and progress_text(fanout) != printed:
                printed, next_line = progress_text(fanout), time.monotonic() + _QUIET
                print_note(printed)
            await asyncio.sleep(_POLL)
    if fanout is not None:
        _print_summary(fanout, run_id)


async def _state(services: Services, run_id: RunId) -> tuple[FanoutView | None, bool]:
    """Return the progress, and whether the fanout is over. An outage of the database is waited for."""
    while True:
        try:
            page = await services.queries.runs.page(run_id)
        except StorageUnavailable as error:
            print_note(f"foliot: {error.message}; trying again")
            await asyncio.sleep(_POLL * 4)
        else:
            return page.fanout, page.run.status.is_terminal


def _print_summary(fanout: FanoutView, run_id: RunId) -> None:
    print_note(f"{fanout.items} items: {counts_text(fanout).partition(' ')[2].strip('()') or 'none'}")
    for item in fanout.first_failed[:_FAILED_SHOWN]:
        index, text, status, *_, error = item_row(item)
        print_note(escaped(f"  {index} {text}: {status}, {error}"))
    if fanout.first_failed:
        print_note(f"the failed items: foliot show {run_id} --failed; repeat them: foliot retry {run_id} --failed")
