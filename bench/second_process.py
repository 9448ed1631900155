"""A second process that has the same SQLite file open and reads now and then, as a dashboard would."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.children import Child, Contender
from bench.orders import Order
from bench.places import Database
from bench.watchers import wait_for_mark

_READER: Final = Contender(name="second process", module="foliot_reader", database=Database.SQLITE, operation="read")


@contextmanager
def second_process(order: Order) -> Iterator[None]:
    """Run the second process. It has the file open when the block begins."""
    marks = Path(order.marks) / "reader"
    marks.mkdir()
    reader = replace(order, marks=str(marks), count=1)
    with Child(_READER, reader) as child:
        wait_for_mark(reader, "first", child)
        yield
        child.check()
