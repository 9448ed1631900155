"""Finds the DSN, runs the query on its database, and encodes the values of the first column."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import date, datetime, time
from importlib import import_module
from math import isfinite
from typing import Any, Final

from foliot.adapters.resolvers.batches import Batches
from foliot.adapters.resolvers.time_limit import SECONDS, limited
from foliot.domain.fanout.dsn import POSTGRESQL, SQLITE, engine_of
from foliot.domain.fanout.inputs import SqlInputs, parse_sql
from foliot.domain.fanout.item import ItemLimits
from foliot.errors import InputsRefused, InputsUnavailable, InvalidInput, NotFound, SecretError
from foliot.ports.dsns import DsnSource
from foliot.ports.resolver import ResolveRequest

ReadColumn = Callable[[str, str, float], AsyncGenerator[Sequence[Any]]]
"""Called with the DSN, the query and the seconds that it may take. Yields the values of the first column."""

_READERS: Final[Mapping[str, str]] = {
    SQLITE: "foliot.adapters.resolvers.sql.sqlite",
    POSTGRESQL: "foliot.adapters.resolvers.sql.postgres",
}


class SqlResolver:
    """Reads registered databases."""

    def __init__(self, dsns: DsnSource, *, seconds: float = SECONDS) -> None:
        self._dsns = dsns
        self._seconds = seconds

    def check(self, uri: str) -> None:
        parse_sql(uri)

    def resolve(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        return limited(self._batches(parse_sql(request.uri), request.limits), self._seconds)

    async def _batches(self, inputs: SqlInputs, limits: ItemLimits) -> AsyncGenerator[Sequence[bytes]]:
        dsn = await self._find(inputs.dsn)
        read = _reader_for(inputs.dsn, dsn)
        collected = Batches(limits)
        try:
            async with aclosing(read(dsn, inputs.query, self._seconds)) as columns:
                async for column in columns:
                    for value in column:
                        _add(collected, value)
                    if collected.is_full:
                        yield collected.take()
        except (InputsRefused, InputsUnavailable) as error:
            error.add_context(f'DSN "{inputs.dsn}"')
            raise
        if rest := collected.take():
            yield rest

    async def _find(self, name: str) -> str:
        try:
            return await self._dsns.find(name)
        except NotFound as error:
            hint = f"An administrator adds it with: foliot dsn add {name}. {error.hint}"
            raise InputsRefused(f'DSN "{name}" is not registered', hint=hint) from None
        except SecretError as error:
            raise InputsUnavailable(f'DSN "{name}" could not be read: {error.message}', hint=error.hint) from None


def _reader_for(name: str, dsn: str) -> ReadColumn:
    try:
        read: ReadColumn = import_module(_READERS[engine_of(dsn)]).read_column
    except InvalidInput as error:
        raise InputsRefused(f'DSN "{name}": {error.message}', hint=error.hint) from None
    except ModuleNotFoundError as error:
        hint = "Install it on the machine of the coordinator: pip install 'foliot[postgres]'."
        raise InputsUnavailable(f'DSN "{name}": the package {error.name} is not installed', hint=hint) from None
    return read


def _add(collected: Batches, value: Any) -> None:
    match value:
        case None:
            hint = "Leave such rows out: WHERE ... IS NOT NULL."
            raise InputsRefused(f"item {collected.count + 1} is NULL", hint=hint)
        case str():
            collected.add_text(value.encode(errors="surrogatepass"))
        case bytes() | bytearray() | memoryview():
            collected.add_text(bytes(value))
        case bool() | int():
            collected.add_value(value)
        case float() if isfinite(value):
            collected.add_value(value)
        case datetime() | date() | time():
            collected.add_text(value.isoformat().encode())
        case _:
            # Numbers of any precision, UUIDs, addresses and so on, as their database writes them.
            collected.add_text(str(value).encode())
