"""Ids of jobs, made from their commands.

/usr/local/bin/backup.sh --full              backup
cd /srv/app && php artisan schedule:run      artisan-schedule-run
flock -n /tmp/sync.lock nice sync-mail       sync-mail
"""

import hashlib
import re
from collections.abc import Iterator
from itertools import dropwhile, takewhile
from typing import Final

from foliot.domain.crontab.entry import Entry
from foliot.domain.ids import JobId

_LONGEST: Final = 40
_MORE_WORDS: Final = 2
_CLAUSE: Final = re.compile(r"&&|\|\||[;|\n]")
_PREPARING: Final = frozenset(
    {"cd", "test", "[", "[[", ".", "source", "sleep", "export", "set", "umask", "ulimit", ":", ""}
)
"""Programs that prepare for what is meant."""
_WRAPPERS: Final = frozenset(
    {"sudo", "nice", "ionice", "env", "exec", "nohup", "timeout", "flock", "chronic", "time", "setsid", "command"}
)
_INTERPRETERS: Final = re.compile(r"(?:ba|da|z|k)?sh|python[0-9.]*|perl|ruby|php[0-9.]*|node")
_NUMBER: Final = re.compile(r"[0-9.]+[smhd]?")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*")
_SUBCOMMAND: Final = re.compile(r"[A-Za-z][A-Za-z0-9_:-]*")
_EXTENSION: Final = re.compile(r"\.(?:sh|bash|py|pl|rb|php|js)$")


class JobIds:
    """Gives each entry an id of its own. A line that is added later does not change the ids of the lines above it."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def make(self, entry: Entry) -> JobId:
        name = _slug(entry.command) if entry.script else name_of(entry.command)
        free = next(candidate for candidate in self._candidates(name, entry) if candidate not in self._taken)
        self._taken.add(free)
        return JobId(free)

    def _candidates(self, name: str, entry: Entry) -> Iterator[str]:
        yield name
        content = "\0".join([entry.user, entry.expression, entry.command, entry.stdin or ""])
        digest = hashlib.sha256(content.encode()).hexdigest()[:4]
        yield f"{name}-{digest}"
        number = 2
        while True:
            yield f"{name}-{digest}-{number}"
            number += 1


def name_of(command: str) -> str:
    """Return a short name for a command: its program, and the subcommands that follow it."""
    clauses = [list(_program_words(clause.split())) for clause in _CLAUSE.split(command)]
    words = next((words for words in clauses if words and words[0] not in _PREPARING), None)
    if words is None:
        return _slug(command)
    program = _EXTENSION.sub("", _base_name(words[0]))
    more = takewhile(_SUBCOMMAND.fullmatch, words[1 : 1 + _MORE_WORDS])
    return _slug("-".join([program, *more]))


def _program_words(words: list[str]) -> Iterator[str]:
    """Return the words from the program on that is meant, without assignments, wrappers and interpreters."""
    rest = [word.strip("\"'`(){}!$") for word in words]
    while rest:
        program = _base_name(rest[0])
        is_interpreter = _INTERPRETERS.fullmatch(program) is not None
        if program in _WRAPPERS or (is_interpreter and len(rest) > 1 and rest[1] != "-c"):
            rest = _without_options(rest[1:])
            if program == "flock":
                rest = _without_options(rest[1:])
        elif not rest[0] or _ASSIGNMENT.fullmatch(rest[0]):
            rest = rest[1:]
        else:
            break
    return iter(rest)


def _base_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _without_options(words: list[str]) -> list[str]:
    return list(dropwhile(lambda word: word.startswith("-") or _NUMBER.fullmatch(word), words))


def _slug(text: str) -> str:
    slug = re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-").lower()
    return slug[:_LONGEST].rstrip("-") or "job"
