"""Reads a crontab as cron does: line by line, each with the assignments above it."""

import re
from typing import Final

from foliot.domain.crontab.comments import Comments
from foliot.domain.crontab.entry import Crontab, Entry, Rejected
from foliot.domain.crontab.line import Assignment, read_assignment, read_timing, split_command, split_user
from foliot.errors import InvalidInput, Place, Problem, Severity

_FIXED: Final = ("LOGNAME", "USER")
_ZONE: Final = "CRON_TZ"
_OF_CRON: Final = (*_FIXED, _ZONE, "MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING", "RANDOM_DELAY")
"""Variables that cron reads itself."""
_ODD: Final = re.compile("[\0\ud800-\udfff]")
"""NUL, and bytes that are not UTF-8."""


def parse_crontab(text: str, file: str, *, owner: str | None) -> Crontab:
    """Return the jobs of a crontab, and the problems in it.

    `owner`: the account whose crontab it is; None for a system crontab, whose lines name their users. Bytes that are
    not UTF-8 must be lone surrogates (`errors="surrogateescape"`).
    """
    reader = _Reader(file, owner)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        reader.read(Place(file, number), line.removesuffix("\r").lstrip(" \t"))
    return Crontab(file, tuple(reader.items), tuple(reader.warnings))


class _Reader:
    def __init__(self, file: str, owner: str | None) -> None:
        self._owner = owner
        self._variables: dict[str, str] = {}
        self._timezone: str | None = None
        self._comments = Comments()
        self.items: list[Entry | Rejected] = []
        self.warnings: list[Problem] = []

    def read(self, place: Place, line: str) -> None:
        if not line.strip():
            self._comments.clear()
        elif line.startswith("#"):
            self._comments.add(line)
        elif _ODD.search(line):
            self._comments.clear()
            message = "the line contains characters that are not UTF-8 text"
            self.items.append(Rejected(place, line, message, "Convert the crontab to UTF-8."))
        elif (assignment := read_assignment(line)) is not None:
            self._comments.clear()
            self._assign(place, assignment)
        else:
            self.items.append(self._entry(place, line))

    def _entry(self, place: Place, line: str) -> Entry | Rejected:
        description = self._comments.take()
        try:
            timed = read_timing(line, self._timezone)
            user, rest = (self._owner, timed.rest) if self._owner is not None else split_user(timed.rest)
            command, stdin = split_command(rest.lstrip(" \t"))
            if not command.strip():
                raise InvalidInput("the command is empty", hint="Write a command before the first percent sign.")
        except InvalidInput as error:
            return Rejected(place, line, error.message, error.hint)
        if timed.is_random:
            hint = "The value is computed from the id of the job, and does not change when the server starts."
            self._warn(place, "random values (~) become hashed values (H)", hint)
        return Entry(
            place, timed.expression, command, user, dict(self._variables), stdin or None, self._timezone, description
        )

    def _assign(self, place: Place, assignment: Assignment) -> None:
        name, value = assignment
        if name == _ZONE:
            self._timezone = value or None
        if name not in _OF_CRON:
            self._variables[name] = value
        if value and (warning := _WARNINGS.get(name)):
            self._warn(place, *warning)

    def _warn(self, place: Place, message: str, hint: str) -> None:
        self.warnings.append(Problem(Severity.WARNING, place, message, hint))


_NOT_SETTABLE: Final = (
    "cron does not let a crontab set {}: it is the name of the account",
    "The assignment is left out.",
)
_WARNINGS: Final = {
    "MAILTO": (
        "output is not mailed: Foliot keeps it",
        "Read it with foliot logs JOB@last. For messages about failures, give the jobs a webhook_url.",
    ),
    "RANDOM_DELAY": ("RANDOM_DELAY is left out", 'Give the jobs a jitter such as jitter = "10m".'),
    _ZONE: (
        "CRON_TZ becomes the timezone of the jobs below it, as in cronie",
        "Other crons, such as Debian's, ignore it. Remove timezone from these jobs if yours does.",
    ),
    "TZ": (
        "TZ is passed to the commands and does not change when they start",
        "If your cron schedules by TZ, give these jobs a timezone.",
    ),
    **{name: (_NOT_SETTABLE[0].format(name), _NOT_SETTABLE[1]) for name in _FIXED},
}
