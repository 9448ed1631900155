"""Nothing that is read can be executed by the reader."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from foliot.adapters.queue.message import decode
from tests.architecture.imports import Module, Tree, imports_of, read_tree

SOURCE = Path(__file__).parents[2] / "src"
EXECUTING = frozenset({"pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "yaml", "code", "codeop"})
"""Modules that turn bytes into objects or code."""
CALLED = frozenset({"eval", "exec", "compile"})
"""Python jobs import functions by name on purpose; `allow_modules` restricts them."""


def executions_in(module: Module) -> Iterator[str]:
    """Yield the places where a module could execute data."""
    for found in module.imports:
        if found.target.partition(".")[0] in EXECUTING:
            yield f"{module.name}:{found.line} imports {found.target}"
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLED:
            yield f"{module.name}:{node.lineno} calls {node.func.id}"


@pytest.fixture(scope="module")
def tree() -> Tree:
    return read_tree(SOURCE)


@pytest.mark.proves("Z39")
def test_no_module_executes_what_it_reads(tree: Tree) -> None:
    assert [found for module in tree.values() for found in executions_in(module)] == []


@pytest.mark.parametrize(
    "text", ["import pickle", "from yaml import load", "x = eval(y)", "def f():\n    import marshal"]
)
def test_a_module_that_executes_data_would_be_detected(text: str) -> None:
    syntax = ast.parse(text)
    imports = tuple(found for node in ast.walk(syntax) for found in imports_of(node, "", {}))

    assert len([*executions_in(Module("m", False, syntax, imports))]) == 1


@pytest.mark.proves("Z39")
def test_a_pickle_is_not_accepted_as_a_message() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return pytest.fail, ("it was executed",)

    assert decode(pickle.dumps(Bomb())) is None
