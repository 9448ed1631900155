"""Reads keyword arguments by the table of options."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from foliot.domain.vocabulary.field import Field, Schema
from foliot.domain.vocabulary.places import CALL_PLACES
from foliot.domain.vocabulary.readers import read_named, type_name
from foliot.errors import InvalidInput, InvalidJob

Refusal = type[InvalidInput]


class Keywords(dict[str, Any]):
    """The options that were given: name -> converted value. `written`: name -> name that the caller used."""

    def __init__(self) -> None:
        super().__init__()
        self.written: dict[str, str] = {}

    def fill(self, fields: Iterable[Field]) -> dict[str, Any]:
        """Return the values of those of the fields that were given, by the attributes they fill."""
        return {field.attribute: self[field.name] for field in fields if field.name in self}


def read_keywords(
    schema: Schema, given: Mapping[str, Any], refusal: Refusal = InvalidJob, *, within: str = ""
) -> Keywords:
    """Read options by their table. None means that an option was not given, except where None is a value.

    An error names the option as it was written; `within` is the name of the table around it.
    """
    read = Keywords()
    for name, value in given.items():
        field = schema.find(name)
        if field is None:
            hint = schema.advice(name, CALL_PLACES)
            raise refusal(f"option {f'{within}{name}'[:64]!a} does not exist", hint=hint, field=name[:64])
        if value is None and not field.takes_none:
            continue
        if field.name in read:
            both = f"{within}{read.written[field.name]} and {within}{name}"
            raise refusal(f"{both} are the same option", hint="Keep one of them.", field=name)
        read[field.name] = None if value is None else _read(field, name, value, refusal, within)
        read.written[field.name] = name
    return read


def _read(field: Field, name: str, value: Any, refusal: Refusal, within: str) -> Any:
    if field.table is None:
        return read_named(field.in_python or field.reader(name), value, f"{within}{name}", refusal)
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        hint = f"Use: {', '.join(inner.name for inner in field.table)}."
        raise refusal(f"{within}{name} must be a dict of options, not {type_name(value)}", hint=hint, field=name)
    return read_keywords(field.table, value, refusal, within=f"{within}{name}.").fill(field.table)


@contextmanager
def as_written(written: Mapping[str, str]) -> Iterator[None]:
    """Make errors name options as the caller wrote them. `written`: name of the option -> name that was used."""
    try:
        yield
    except InvalidInput as error:
        name_as_written(error, written)
        raise


def name_as_written(error: InvalidInput, written: Mapping[str, str]) -> None:
    """Replace the name of the option that an error is about by the name that the caller used."""
    name = written.get(error.field, error.field)
    if name != error.field:
        error.message = re.sub(rf"\b{re.escape(error.field)}\b", name, error.message)
        error.field = name
