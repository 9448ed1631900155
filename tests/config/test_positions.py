"""Every key of a document has its line number."""

import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from foliot.config.positions import KeyPath, locate
from tests.cases import for_each
from tests.config.toml_writer import TomlWriter, written

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\"'\\\n\r#[]{}=,$"), max_size=8)
KEYS = st.text(st.sampled_from("abc_-\"'.\\ #[]={}é"), min_size=0, max_size=4) | st.sampled_from(["jobs", "id", "env"])
SCALARS = st.integers(-9, 9) | st.booleans() | TEXTS | st.just(1.5)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)
TREES = st.dictionaries(KEYS, VALUES | st.lists(st.dictionaries(KEYS, VALUES, max_size=3), max_size=3), max_size=4)


@given(TREES, st.data())
def test_every_key_has_its_line(tree: dict[str, Any], data: st.DataObject) -> None:
    writer = TomlWriter(lambda ways: data.draw(st.sampled_from(ways)))
    writer.document(tree)
    assert tomllib.loads(writer.text) == tree, "the writer writes what it is given"

    lines = {path: found.line for path, found in locate(writer.text).items()}

    assert lines == writer.lines
    text = [*writer.text.split("\n")]
    for path in paths(tree):
        assert path in lines
        if isinstance(path[-1], str):
            assert written(path[-1]) in text[lines[path] - 1]


def paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, item in parts:
        yield (*path, part)
        yield from paths(item, (*path, part))


DOCUMENT = '''\
title = """
[not.a.table]
x = 1
"""
a.b = 1
a.c = { d = 2, "e.f" = [1,
  2] }
[[jobs]]
id = 'one'   # [[jobs]]
[jobs.env]
PATH = "x"
[[jobs.schedules]]
name = "s"
[[jobs]]
id = "two"
[jobs.env]
HOME = "y"
'''


@for_each(
    ("path", "line"),
    [
        (("title",), 1),
        (("a",), 5),
        (("a", "c"), 6),
        (("a", "c", "e.f"), 6),
        (("a", "c", "e.f", 1), 7),
        (("jobs",), 8),
        (("jobs", 0, "id"), 9),
        (("jobs", 0, "env", "PATH"), 11),
        (("jobs", 0, "schedules", 0, "name"), 13),
        (("jobs", 1), 14),
        (("jobs", 1, "env", "HOME"), 17),
    ],
)
def test_tables_dotted_keys_and_multiline_strings_have_their_lines(path: KeyPath, line: int) -> None:
    assert locate(DOCUMENT)[path].line == line


def test_keys_and_items_have_their_columns() -> None:
    found = locate("  a = 1\nb = [1, { c = 2 }]\n")

    assert [found[path].column for path in [("a",), ("b", 0), ("b", 1), ("b", 1, "c")]] == [3, 6, 9, 11]


def test_windows_line_endings_are_counted() -> None:
    assert locate('a = """\r\nx\r\n"""\r\nb = 1\r\n')["b",] == (4, 1)


def test_a_multiline_string_may_end_in_quotes() -> None:
    assert locate('a = """x"""""\nb = 1\n')["b",] == (2, 1)
