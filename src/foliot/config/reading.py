"""Reads the tables of a file or a document by the fields of `domain.vocabulary`. Every other key is a problem."""

from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any, NamedTuple

from foliot.config.document import Node, Problems
from foliot.config.environment import Expansion, Variables, may_hold_variables
from foliot.domain.input.keywords import name_as_written
from foliot.domain.instant import Instant
from foliot.domain.job.sandbox_policy import ANYTHING
from foliot.domain.vocabulary.field import Field, Schema
from foliot.domain.vocabulary.places import FILE_PLACES
from foliot.domain.vocabulary.readers import TEXT, Reader
from foliot.errors import InvalidInput, Place


class Found(NamedTuple):
    """A value that was read, and where it was written."""

    value: Any
    table: Node
    name: str
    """As it was written: the name of the option, or an alias."""

    @property
    def node(self) -> Node:
        return self.table.child(self.name)

    @property
    def place(self) -> Place:
        return self.node.place


class Fields(dict[str, Found]):
    """The options of a table, by their names."""

    def value(self, name: str, default: Any = None) -> Any:
        found = self.get(name)
        return default if found is None else found.value

    @property
    def read(self) -> dict[str, Any]:
        """The values, by the names of the options."""
        return {name: found.value for name, found in self.items()}

    @property
    def written(self) -> dict[str, str]:
        """The name of each option -> the name that was written."""
        return {name: found.name for name, found in self.items()}

    def fill(self, fields: Iterable[Field]) -> dict[str, Any]:
        """Return the values of those of the fields that were given, by the attributes they fill."""
        return self.take({field.name: field.attribute for field in fields})

    def take(self, attributes: Mapping[str, str]) -> dict[str, Any]:
        """The same, with the attribute of each option given."""
        return {attributes[name]: found.value for name, found in self.items() if name in attributes}


class Reading:
    """Reads tables by their schemas and collects the problems in them."""

    def __init__(
        self,
        environ: Mapping[str, str],
        problems: Problems,
        now: Instant,
        *,
        variables: Variables = Variables.EXPANDED,
    ) -> None:
        self.environ = environ
        self.problems = problems
        self.now = now
        self.sandbox_policy = ANYTHING
        """What [server] allows jobs, once that has been read."""
        self._expansion = Expansion(environ, problems, refuses=variables is Variables.REFUSED)
        self._has_variables = variables is not Variables.PLAIN

    def table(self, node: Node, schema: Schema) -> Fields:
        """Return the options of a table. An option with a problem is left out."""
        fields = Fields()
        if not isinstance(node.value, dict):
            what = node.path[-1] if isinstance(node.path[-1], str) else "it"
            self.problems.error(node.place, f"{what} must be a table", "Give it keys, each with a value.")
            return fields
        for name in node.value:
            field = schema.find(name)
            if field is None:
                hint = schema.advice(name, FILE_PLACES)
                self.problems.error(node.child(name).place, f"key {name[:64]!a} does not exist", hint)
            elif field.name in fields:
                both = f"{_last_name(fields[field.name].place)} and {_last_name(node.child(name).place)}"
                self.problems.error(node.child(name).place, f"{both} are the same option", "Keep one of them.")
            else:
                self._read(node, name, field, fields)
        return fields

    def names(self, node: Node, reader: Reader) -> Fields:
        """Return the values of a table whose keys are names. A value with a problem is left out."""
        fields = Fields()
        if not isinstance(node.value, dict):
            self.problems.error(node.place, f"{node.path[-1]} must be a table", "Give it keys, each with a value.")
            return fields
        for name in node.value:
            self._read(node, name, Field(name, reader, ""), fields)
        return fields

    def refuse(
        self, place: Place, error: InvalidInput, context: str = "", written: Mapping[str, str] | None = None
    ) -> None:
        """Turn an error into a problem. `written`: the name of each option -> the name that was written."""
        name_as_written(error, written or {})
        self.problems.error(place, f"{context}{error.message}", error.hint)

    def _read(self, table: Node, name: str, field: Field, fields: Fields) -> None:
        if field.table is not None:
            fields[field.name] = Found(self.table(table.child(name), field.table).fill(field.table), table, name)
            return
        known = self.problems.errors
        value = table.value[name]
        if self._has_variables and not field.is_literal and may_hold_variables(value):
            value = self._expansion.expand(table.child(name))
        if self.problems.errors > known:
            return
        try:
            fields[field.name] = Found(read_value(field.reader(name), value), table, name)
        except InvalidInput as error:
            self.refuse(table.child(name).place, error)


def _last_name(place: Place) -> str:
    """Return the name at the end of the path of a key; for a variable of the environment, its name."""
    return place.key.rpartition(".")[2]


def read_value(reader: Reader, value: Any) -> Any:
    """Read a value of a file. In a field that takes any JSON value, the moments of TOML become text."""
    return reader.read(_plain(value) if reader.is_json else value)


def _plain(value: Any) -> Any:
    match value:
        case str():
            return TEXT.read(value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {str(name): _plain(item) for name, item in value.items()}
        case date() | time():
            return value.isoformat()
        case _:
            return value
