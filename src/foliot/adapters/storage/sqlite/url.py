"""Opening the file that a URL names; see `domain.file_url` for how one is written."""

from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

from foliot.adapters.storage.sqlite.committer import FaultPoint
from foliot.adapters.storage.sqlite.storage import SqliteStorage, Synchronous
from foliot.domain.file_url import parse_file_url
from foliot.errors import InvalidInput
from foliot.ports.clock import Clock


class SqliteUrl(NamedTuple):
    path: Path
    synchronous: Synchronous


async def open_url(url: str, *, clock: Clock, faults: FaultPoint, create: bool = True) -> SqliteStorage:
    place = parse_url(url)
    return await SqliteStorage.open(
        place.path, clock=clock, synchronous=place.synchronous, faults=faults, create=create
    )


def parse_url(url: str) -> SqliteUrl:
    path, query = parse_file_url(url)
    return SqliteUrl(Path(path), _synchronous(dict(parse_qsl(query, keep_blank_values=True))))


def _synchronous(options: dict[str, str]) -> Synchronous:
    chosen = options.pop("synchronous", "FULL").upper()
    if options:
        raise InvalidInput(f"option {next(iter(options))[:64]!a} does not exist", hint="Use synchronous.")
    if chosen == "FULL":
        return "FULL"
    if chosen == "NORMAL":
        return "NORMAL"
    raise InvalidInput(f"synchronous {chosen[:32]!a} does not exist", hint="Use FULL or NORMAL.", field="storage")
