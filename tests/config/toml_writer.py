"""Writes a tree as TOML in every notation that TOML has, and records the line of each key."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from foliot.config.positions import KeyPath

Choose = Callable[[list[str]], str]


class TomlWriter:
    """`choose` selects one of several notations."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose
        self.text = ""
        self.lines: dict[KeyPath, int] = {}

    def document(self, tree: Mapping[str, Any]) -> None:
        self._table((), tree)

    def _table(self, path: KeyPath, table: Mapping[str, Any]) -> None:
        """Write pairs first, then tables with a header."""
        ways = {name: self._notation(value) for name, value in table.items()}
        for name, value in table.items():
            if ways[name] in ("plain", "dotted"):
                self._pair(path, [name], value, ways[name])
        for name, value in table.items():
            if ways[name] == "header":
                self._header((*path, name), "[", "]")
                self._table((*path, name), value)
            elif ways[name] == "tables":
                for number, item in enumerate(value):
                    self._header((*path, name, number), "[[", "]]")
                    self._table((*path, name, number), item)

    def _notation(self, value: Any) -> str:
        if isinstance(value, dict):
            return self._choose(["header", "plain", "dotted"]) if value else self._choose(["header", "plain"])
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return self._choose(["tables", "plain"])
        return "plain"

    def _header(self, whole: KeyPath, opening: str, closing: str) -> None:
        self._filler()
        for length in range(1, len(whole) + 1):
            self._note(whole[:length])
        space = self._choose(["", " "])
        names = f"{space}.{space}".join(written(part) for part in whole if isinstance(part, str))
        self.text += f"{opening}{space}{names}{space}{closing}{self._choose(['', ' # [no.header]'])}\n"

    def _pair(self, path: KeyPath, names: list[str], value: Any, notation: str) -> None:
        if notation == "dotted":
            for name, item in value.items():
                deeper = (
                    "dotted"
                    if isinstance(item, dict) and item and self._choose(["dotted", "plain"]) == "dotted"
                    else "plain"
                )
                self._pair(path, [*names, name], item, deeper)
            return
        self._filler()
        whole = path
        for name in names:
            whole = (*whole, name)
            self._note(whole)
        space = self._choose(["", " ", "\t"])
        self.text += f"{space}.{space}".join(map(written, names)) + f"{space}={space}"
        self._value(whole, value)
        self.text += self._choose(["", " # a = 1"]) + "\n"

    def _value(self, path: KeyPath, value: Any) -> None:
        match value:
            case dict():
                self._inline_table(path, value)
            case list():
                self._list(path, value)
            case str():
                self._string(value)
            case bool():
                self.text += str(value).lower()
            case _:
                self.text += str(value)

    def _inline_table(self, path: KeyPath, table: Mapping[str, Any]) -> None:
        self.text += "{"
        for number, (name, value) in enumerate(table.items()):
            self.text += ", " * bool(number)
            self._note((*path, name))
            self.text += f"{written(name)} = "
            self._value((*path, name), value)
        self.text += "}"

    def _list(self, path: KeyPath, items: list[Any]) -> None:
        gap = self._choose(["", "\n  ", " # ] , }\n"])
        self.text += f"[{gap}"
        for number, item in enumerate(items):
            self._note((*path, number))
            self._value((*path, number), item)
            if number < len(items) - 1 or self._choose(["", ","]):
                self.text += f",{gap}"
        self.text += f"{gap}]"

    def _string(self, text: str) -> None:
        ways = ["basic", "long"]
        if re.fullmatch(r"[^'\x00-\x1f\x7f]*", text):
            ways += ["literal", "long literal"]
        match self._choose(ways):
            case "basic":
                self.text += _escaped(text)
            case "long":
                body = text.replace("\\", "\\\\").replace('"""', '""\\"').replace("\r", "\\r")
                body = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", body)
                self.text += f'"""\n{body[:-1] + chr(92) + chr(34) if body.endswith(chr(34)) else body}"""'
            case "literal":
                self.text += f"'{text}'"
            case _:
                self.text += f"'''\n{text}'''"

    def _filler(self) -> None:
        self.text += self._choose(["", "\n", '# [[x]] = """\n', "   "])

    def _note(self, path: KeyPath) -> None:
        self.lines.setdefault(path, self.text.count("\n") + 1)


def written(name: str) -> str:
    """Return a key as it is written."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _escaped(name)


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
