"""What every group of verbs needs to reach the database."""

from typing import NamedTuple

from foliot.adapters.storage.sqlite.reader import Reader
from foliot.adapters.storage.sqlite.writer import Writer
from foliot.ports.clock import Clock


class Access(NamedTuple):
    """The writer for what changes, the reader for what only looks."""

    writer: Writer
    reader: Reader
    clock: Clock
    project: str
