"""Reads the imports of modules from their source, without importing them."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Tree = Mapping[str, "Module"]


@dataclass(frozen=True)
class Import:
    target: str
    line: int


@dataclass(frozen=True)
class Module:
    name: str
    is_package: bool
    syntax: ast.Module
    imports: tuple[Import, ...]


def read_tree(source: Path) -> Tree:
    """Return every module below `source` by its dotted name, with all its imports, also those in functions."""
    paths = {dotted(path, source): path for path in sorted(source.rglob("*.py"))}
    return {name: read_module(name, path, paths) for name, path in paths.items()}


def dotted(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_module(name: str, path: Path, known: Mapping[str, Path]) -> Module:
    syntax = ast.parse(path.read_text(), filename=str(path))
    is_package = path.stem == "__init__"
    package = name if is_package else name.rpartition(".")[0]
    found = (found for node in ast.walk(syntax) for found in imports_of(node, package, known))
    return Module(name, is_package, syntax, tuple(found))


def imports_of(node: ast.AST, package: str, known: Mapping[str, Path]) -> Iterator[Import]:
    match node:
        case ast.Import():
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        case ast.ImportFrom():
            base = absolute(node, package)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield Import(full if full in known else base, node.lineno)
        case ast.Call(args=[ast.Constant(value=str(target)), *_]) if called(node) in DYNAMIC:
            yield Import(target, node.lineno)


DYNAMIC = {"import_module", "__import__"}


def called(call: ast.Call) -> str:
    """Return the last name of a call: `f` of f(), `b` of a.b()."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)
