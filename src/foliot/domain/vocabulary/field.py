"""One option: its name, how its value is read, where the value goes, and what it means.

    Field      retries       whole number      retry.retries      "How often a failed run is tried again."
      aliases  retry_count   accepted as input, never printed
      former   ...           not accepted; the hint says the new name

A Schema holds the fields of one place, such as [[jobs]] or `app.enqueue`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Self

from foliot.domain.vocabulary.readers import Reader
from foliot.errors.base import closest

_ALMOST_EQUAL = 0.85
_MOST_LISTED = 20


class Alias(NamedTuple):
    """Another spelling of an option. A number may be in another unit, which the name then says."""

    name: str
    read: Reader | None = None
    """How its value is read, if not like that of the option itself."""


class Field(NamedTuple):
    """An option."""

    name: str
    read: Reader
    doc: str
    """What it means, in one sentence or a few."""
    default: str = ""
    """The value that has the same effect as leaving the option out, as TOML. Empty: there is none."""
    fills: str = ""
    """The attribute that it fills, if its name is another one; a dot leads to an attribute of an attribute."""
    aliases: tuple[Alias, ...] = ()
    former: tuple[str, ...] = ()
    """Names that it had before the first release. A hint names the option."""
    is_literal: bool = False
    """Whether ${...} in it is left alone, because it means something to the program that is given the text."""
    is_merged: bool = False
    """Whether the value in [defaults] is a table under the job's own table, instead of being replaced by it."""
    takes_none: bool = False
    """Whether None in Python is a value: no limit, no key. For other options None means: not given."""
    table: "Schema | None" = None
    """The fields of the table that its value is."""
    in_python: Reader | None = None
    """How a keyword argument is read, if not like a value of a file."""
    has_effect: bool = True
    """Whether it does anything in this version. If not, it causes a warning, and no page or hint names it."""

    @property
    def attribute(self) -> str:
        return self.fills or self.name

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that is accepted, the option's own first."""
        return (self.name, *(alias.name for alias in self.aliases))

    def reader(self, name: str) -> Reader:
        """Return the reader for a value that was given under this name."""
        return next((alias.read for alias in self.aliases if alias.name == name and alias.read), self.read)

    def means(self, doc: str, default: str | None = None) -> Self:
        """Return the same option for a place where it means something else."""
        return self._replace(doc=doc, default=self.default if default is None else default)


class Schema:
    """The options of one place. `owner` says in a hint what they belong to."""

    def __init__(self, *fields: Field, owner: str = "", hints: Mapping[str, str] | None = None) -> None:
        self.fields = fields
        self.owner = owner
        self._hints = hints or {}
        self._by_name = {name: field for field in fields for name in field.names}
        self._former = {name: field for field in fields for name in field.former}

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that is accepted, aliases included."""
        return tuple(self._by_name)

    def find(self, name: str) -> Field | None:
        return self._by_name.get(name)

    def advice(self, name: str, elsewhere: "Iterable[Schema]" = ()) -> str:
        """Return what to do about an option that does not exist here."""
        if name in self._hints:
            return self._hints[name]
        if name in self._former:
            return f'It is now called "{self._former[name].name}".'
        near = self._near(name, _ALMOST_EQUAL)
        owner = next((schema.owner for schema in elsewhere if schema._offers(name)), None)
        if owner is not None and near is None:
            return f"It is an option of {owner}."
        near = near or self._near(name)
        if near is not None:
            return f'Did you mean "{near}"?'
        names = sorted(field.name for field in self.fields if field.has_effect)
        if len(names) > _MOST_LISTED:
            return "All options are in docs/reference/configuration.md."
        return f"Use: {', '.join(names)}."

    def _offers(self, name: str) -> bool:
        """Return whether an option with this name exists here and has an effect."""
        field = self.find(name)
        return field is not None and field.has_effect

    def _near(self, name: str, cutoff: float = 0.6) -> str | None:
        """Return the option with a similar name or alias, among those with an effect."""
        by_folded = {known.casefold(): field.name for known, field in self._by_name.items() if field.has_effect}
        close = closest(name[:64].casefold(), by_folded, cutoff=cutoff)
        return None if close is None else by_folded[close]


def union(*groups: Iterable[Field]) -> tuple[Field, ...]:
    """Return each field once; of two with the same name, the last one in the place of the first."""
    return tuple({field.name: field for group in groups for field in group}.values())


def only(fields: Iterable[Field], *names: str) -> tuple[Field, ...]:
    return tuple(field for field in fields if field.name in names)


def without(fields: Iterable[Field], *names: str) -> tuple[Field, ...]:
    return tuple(field for field in fields if field.name not in names)
