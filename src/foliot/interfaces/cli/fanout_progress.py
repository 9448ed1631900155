"""Following a fanout: a progress bar on a terminal, elsewhere a line whenever enough has changed; then its summary."""

import sys
import time
from contextlib import suppress
from typing import Final

from foliot.errors import WaitTimeout
from foliot.interfaces.cli.outage import OUTAGES, wait_out
from foliot.interfaces.cli.output import print_note
from foliot.interfaces.cli.progress import ProgressLine
from foliot.interfaces.cli.render.fanout import counts_text, item_row, progress_text
from foliot.interfaces.cli.render.format import bar
from foliot.interfaces.cli.render.text import escaped
from foliot.service.operations import Operations
from foliot.service.queries.fanout_view import FanoutView

_REFRESH: Final = 0.5
"""Seconds between two displays of the progress. The end of the fanout is displayed immediately."""
_QUIET: Final = 10.0
"""Seconds between two lines, where the output is no terminal."""
_FAILED_SHOWN: Final = 5


async def follow_fanout(services: Operations, run_id: str) -> None:
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
            await _pause(services, run_id)
    if fanout is not None:
        _print_summary(fanout, run_id)


async def _pause(services: Operations, run_id: str) -> None:
    """Wait until the progress is displayed again, or until the fanout is over."""
    with suppress(WaitTimeout, *OUTAGES):
        await services.runs.wait(run_id, timeout=_REFRESH)


async def _state(services: Operations, run_id: str) -> tuple[FanoutView | None, bool]:
    """Return the progress, and whether the fanout is over. An outage of the database is waited for."""
    while True:
        try:
            page = await services.queries.runs.page(run_id)
        except OUTAGES as error:
            await wait_out(error)
        else:
            return page.fanout, page.run.status.is_terminal


def _print_summary(fanout: FanoutView, run_id: str) -> None:
    print_note(f"{fanout.items} items: {counts_text(fanout).partition(' ')[2].strip('()') or 'none'}")
    for item in fanout.first_failed[:_FAILED_SHOWN]:
        index, text, status, *_, error = item_row(item)
        print_note(escaped(f"  {index} {text}: {status}, {error}"))
    if fanout.first_failed:
        print_note(f"the failed items: foliot show {run_id} --failed; repeat them: foliot retry {run_id} --failed")
