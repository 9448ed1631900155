"""Commands named in hints exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import foliot
from foliot.errors import NotFound
from foliot.interfaces.cli import cli

MENTIONED = re.compile(r"(?<![\w'\".-])foliot (?!import\b)([a-z{][\w{}-]*)")
"""The name of the program and the next word; not at the beginning of a string, such as the name of a lock."""
SOURCES = sorted(Path(foliot.__file__).parent.rglob("*.py"))


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield all string literals, with {} for the values of formatted ones."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def mentioned(source: str) -> set[str]:
    return {word for text in texts(ast.parse(source)) for word in MENTIONED.findall(text)}


def test_every_command_named_in_the_source_exists() -> None:
    commands = set(cli.list_commands(click.Context(cli)))

    named = {word: str(path) for path in SOURCES for word in mentioned(path.read_text())}

    assert {word: path for word, path in named.items() if word not in commands} == {}
    assert {"runs", "serve"} <= named.keys()


def test_a_missing_command_in_a_hint_is_found() -> None:
    assert mentioned('hint = "Run: foliot migrate"') == {"migrate"}
    assert mentioned('hint = f"List with: foliot {kind}s"') == {"{}s"}


@pytest.mark.parametrize(
    ("kind", "hint"), [("run", "List them with: foliot runs"), ("job", "List them with: foliot jobs"), ("step", "")]
)
def test_hints_of_not_found_errors_name_a_listing_command(kind: str, hint: str) -> None:
    assert NotFound(kind, "x").hint == hint
