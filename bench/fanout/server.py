"""A server with a fanout, and what it reads: a file of jobs and a file of items."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.children import Child, Contender, run
from bench.orders import Order

DEFAULT_WIDTH: Final = 4
DEFAULT_SLOTS: Final = 100
"""Foliot's own defaults: items of a fanout at once, and runs of a worker at once."""
SERVER: Final = (
    "-m foliot serve bench.contenders.foliot_app:app --config={marks}/foliot.toml --concurrency={slots} "
    "--loop={loop} --log-level=warning"
)

FUNCTION: Final = 'job = "ignore"'
PROGRAM: Final = 'argv = ["true"]'

_JOBS: Final = """\
[storage]
url = {url}

[[jobs]]
id = "warm-up"
kind = "fanout"
items = ["first"]
{child}

[[jobs]]
id = "fanout"
kind = "fanout"
inputs_from = {inputs}
concurrency = {width}
{child}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FanoutContender(Contender):
    """A way to execute something for each item."""

    width: int = DEFAULT_WIDTH
    child: str = FUNCTION
    """What Foliot does for an item, as lines of its job."""


def write_items(order: Order, count: int) -> None:
    lines = (f"{number}\n" for number in range(count))
    with (Path(order.marks) / "items.txt").open("w") as file:
        file.writelines(lines)


@contextmanager
def serving(contender: FanoutContender, order: Order) -> Iterator[Child]:
    """Run a server that has executed its first fanout. The items are those that were written before."""
    (Path(order.marks) / "foliot.toml").write_text(_jobs(contender, order))
    with Child(contender, order) as child:
        run(contender, "warm-up", order)
        yield child


def _jobs(contender: FanoutContender, order: Order) -> str:
    # A JSON string is a TOML string too.
    return _JOBS.format(
        url=json.dumps(order.url),
        inputs=json.dumps(f"file://{order.marks}/items.txt"),
        width=contender.width,
        child=contender.child,
    )
