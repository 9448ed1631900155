"""The SQL of this package, ready to be sent.

The files are written for the schema `foliot`, so that they can be tried as they stand. A query may stand inside another
one, as {its_name}: what several statements have in common is written once. An array that is asked for comes as text
(`arrays.literal`), so that the driver has nothing to look into and need not learn the array types of each connection.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from foliot.adapters.storage.shared.sql import load_migrations, load_queries

SCHEMA: Final = "foliot"
_HERE: Final = Path(__file__).parent
_OTHER: Final = re.compile(r"\{(\w+)\}")
_ARRAY: Final = re.compile(r"(\$\d+)::((?:text|bigint|int|boolean)\[\])")
_OWN_SCHEMA: Final = re.compile(rf"\b{SCHEMA}\.")


@cache
def statements(schema: str = SCHEMA) -> Mapping[str, str]:
    """Every statement by its name."""
    written: dict[str, str] = {}
    for file in sorted((_HERE / "sql").glob("*.sql")):
        queries = load_queries(file)
        if twice := written.keys() & queries.keys():
            raise ValueError(f"{file.name} names again: {', '.join(twice)}")
        written.update(queries)
    return {
        name: in_schema(_ARRAY.sub(r"\1::text::\2", _OTHER.sub(lambda other: written[other[1]], text)), schema)
        for name, text in written.items()
    }


def migrations(schema: str = SCHEMA) -> Mapping[int, str]:
    """Every migration by its number."""
    return {number: in_schema(text, schema) for number, text in load_migrations(_HERE / "migrations").items()}


def in_schema(text: str, schema: str) -> str:
    return text if schema == SCHEMA else _OWN_SCHEMA.sub(f'"{schema}".', text)
