"""Finds secrets that are written into a configuration file."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from foliot.domain.secrets import sounds_secret
from foliot.domain.vocabulary.notification import SLACK_URL

_VARIABLE: Final = "${"


def written_secrets(path: Path) -> list[str]:
    """Return the keys of a file whose values are probably secrets, such as `storage.url`. A value that comes from the
    environment is none. A file that cannot be read has none: `foliot check` says why."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return list(dict.fromkeys(_secrets(tree, "")))


def _secrets(value: Any, key: str) -> Iterator[str]:
    match value:
        case dict():
            for name, item in value.items():
                yield from _secrets(item, f"{key}.{name}" if key else name)
        case list():
            for item in value:
                yield from _secrets(item, key)
        case str() if value and _VARIABLE not in value:
            if _is_secret(key.rpartition(".")[2]) or _has_password(value):
                yield key


def _is_secret(name: str) -> bool:
    """The path of a URL of Slack is its password."""
    return sounds_secret(name) or name == SLACK_URL.name


def _has_password(text: str) -> bool:
    """Return whether a text is a URL with a password."""
    try:
        return "://" in text and bool(urlsplit(text).password)
    except ValueError:
        return False
