"""Loads named queries from .sql files.

    -- name: claim_runs
    -- Why it is written this way.
    SELECT ...

A name that both databases use means the same on both. Many queries exist on one database only, because it does in one
statement what the other does in several; tests/architecture/test_twins.py has the reasons. A query may contain another
one, as {its_name}.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

_HEAD: Final = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_OTHER: Final = re.compile(r"\{(\w+)\}")
_COMMENT: Final = re.compile(r"^\s*--.*\n?", re.MULTILINE)


def load_queries(file: Path) -> Mapping[str, str]:
    """Return every named query of a file, without its comments."""
    _, *parts = _HEAD.split(file.read_text("utf-8"))
    names, bodies = parts[::2], parts[1::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{file.name} defines a query twice")
    texts = (_COMMENT.sub("", body).strip().removesuffix(";") for body in bodies)
    return MappingProxyType(dict(zip(names, texts, strict=True)))


def load_statements(directory: Path) -> Mapping[str, str]:
    """Return every query of all files of a directory, with contained queries inserted."""
    written: dict[str, str] = {}
    for file in sorted(directory.glob("*.sql")):
        queries = load_queries(file)
        if twice := written.keys() & queries.keys():
            raise ValueError(f"{file.name} names again: {', '.join(twice)}")
        written.update(queries)
    return MappingProxyType({name: _OTHER.sub(lambda other: written[other[1]], text) for name, text in written.items()})


def load_migrations(directory: Path) -> Mapping[int, str]:
    """Return migration scripts by the number that begins their name, in order."""
    return {int(file.name.partition("_")[0]): file.read_text("utf-8") for file in sorted(directory.glob("*.sql"))}
