"""What may stand in a table: keys with their readers. Whatever else stands there is a problem."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from foliot.config.document import Node
from foliot.config.expansion import Expansion, may_hold_variables
from foliot.config.problems import Problems
from foliot.config.readers import Reader
from foliot.domain.instant import Instant
from foliot.domain.job.sandbox_policy import ANYTHING
from foliot.errors import InvalidInput, Place, suggest


class Key(NamedTuple):
    """A key: how its value is read and what it is called inside."""

    name: str
    read: Reader
    into: str = ""
    """The name of the field that it fills, where that is another one."""
    aliases: tuple[str, ...] = ()
    is_literal: bool = False
    """Whether ${...} in it is left alone, because it means something to whoever is given the text."""
    is_merged: bool = False
    """Whether the value in [defaults] is a table under the job's own instead of giving way to it."""
    table: "Schema | None" = None
    """The keys of the table that it is."""

    @property
    def field(self) -> str:
        return self.into or self.name


class Found(NamedTuple):
    """A value that was read, and where it stood."""

    value: Any
    table: Node
    name: str
    """As it was written: perhaps an alias of its key."""

    @property
    def node(self) -> Node:
        return self.table.child(self.name)

    @property
    def place(self) -> Place:
        return self.node.place


class Fields(dict[str, Found]):
    """What a table said, by the first name of each key."""

    def value(self, name: str, default: Any = None) -> Any:
        found = self.get(name)
        return default if found is None else found.value

    def fill(self, keys: "Iterable[Key]") -> dict[str, Any]:
        """The values of those of the keys that were given, by the names of the fields they fill."""
        return self.take({key.name: key.field for key in keys})

    def take(self, names: Mapping[str, str]) -> dict[str, Any]:
        """The same, where it is known already which field each key fills."""
        return {names[name]: found.value for name, found in self.items() if name in names}


class Schema:
    """The keys of one kind of table."""

    def __init__(self, *keys: Key, hints: Mapping[str, str] | None = None) -> None:
        self.keys = keys
        self._hints = hints or {}
        self._by_name = {name: key for key in keys for name in (key.name, *key.aliases)}

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @property
    def names(self) -> tuple[str, ...]:
        """All that may be written, aliases included."""
        return tuple(self._by_name)

    def find(self, name: str) -> Key | None:
        return self._by_name.get(name)

    def advice(self, name: str) -> str:
        """What to do about a key that does not exist."""
        if name in self._hints:
            return self._hints[name]
        return suggest(name, self._by_name, otherwise=f"Use: {', '.join(sorted(self._by_name))}.")


class Reading:
    """Reads tables by their schemas and collects what is wrong with them."""

    def __init__(self, environ: Mapping[str, str], problems: Problems, now: Instant, *, expands: bool = True) -> None:
        self.environ = environ
        self.problems = problems
        self.now = now
        self.sandbox_policy = ANYTHING
        """What [server] allows jobs, once that has been read."""
        self._expansion = Expansion(environ, problems)
        self._expands = expands
        """Whether variables of the environment are put into values."""

    def table(self, node: Node, schema: Schema) -> Fields:
        """What a table says. What is wrong in it is left out and has become a problem."""
        fields = Fields()
        if not isinstance(node.value, dict):
            what = node.path[-1] if isinstance(node.path[-1], str) else "it"
            self.problems.error(node.place, f"{what} must be a table", "Give it keys, each with a value.")
            return fields
        for name in node.value:
            key = schema.find(name)
            if key is None:
                self._no_such_key(node.child(name), schema)
            elif key.name in fields:
                said = fields[key.name].place.key
                self.problems.error(node.child(name).place, f"says again what {said} says", "Keep one of them.")
            else:
                self._read(node, name, key, fields)
        return fields

    def refuse(self, place: Place, error: InvalidInput, context: str = "") -> None:
        """Make a problem of an error."""
        self.problems.error(place, f"{context}{error.message}", error.hint)

    def _read(self, table: Node, name: str, key: Key, fields: Fields) -> None:
        if key.table is not None:
            fields[key.name] = Found(self.table(table.child(name), key.table).fill(key.table), table, name)
            return
        known = self.problems.errors
        value = table.value[name]
        if self._expands and not key.is_literal and may_hold_variables(value):
            value = self._expansion.expand(table.child(name))
        if self.problems.errors > known:
            return
        try:
            fields[key.name] = Found(key.read.read(value), table, name)
        except InvalidInput as error:
            self.refuse(table.child(name).place, error)

    def _no_such_key(self, node: Node, schema: Schema) -> None:
        name = str(node.path[-1])
        self.problems.error(node.place, f"key {name[:64]!a} does not exist", schema.advice(name))
