"""The parser: splits the text of an expression into its zone and its macro or fields.

    [ TZ=zone | CRON_TZ=zone ]   5, 6 or 7 fields   |   @macro   |   @every span

It checks the expression as a whole; the contents of the fields are parsed in other modules.
"""

import re
from typing import Final, NamedTuple

from foliot.domain.cron.span import Span
from foliot.domain.cron.zones import known_zones
from foliot.errors import InvalidCron, suggest

LONGEST: Final = 512
"""The maximum number of characters. A useful list has at most half of that."""

MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
    "@every_minute": "* * * * *",
    "@every_second": "* * * * * *",
}
EVERY: Final = "@every"
MANUAL: Final = frozenset({"@triggered", "@manual"})
REBOOT: Final = "@reboot"
_BARE: Final = MANUAL | {REBOOT}
_KNOWN: Final = (*MACROS, EVERY, *sorted(_BARE))

_WORD: Final = re.compile(r"[^ \t]+")
_INVALID: Final = re.compile(r"[^\t -~]")
_ZONE_PREFIX: Final = re.compile(r"(?:CRON_)?TZ=")
_LIKE_A_ZONE: Final = re.compile(r"[A-Za-z]{4,}/[A-Za-z][A-Za-z0-9_/+-]*")
_LIKE_EVERY: Final = re.compile(
    r"@(?:every[_-]?)?([0-9]{1,9})[_-]?(?:(s)(?:ec(?:ond)?s?)?|(m)(?:in(?:ute)?s?)?|(h)(?:(?:ou)?rs?)?|(d)(?:ays?)?)"
)
_LONGEST_SHOWN: Final = 64
_FIELD_COUNTS: Final = {5, 6, 7}
_FIELDS_HINT: Final = (
    "Write 5 fields (minute hour day-of-month month day-of-week), 6 with the second first, or 7 with the year last."
    " Names such as @hourly and intervals such as @every 5m are allowed, too."
)


class Words(NamedTuple):
    """The parts of an expression. A macro for fields, such as @daily, is already expanded."""

    zone: Span | None
    fields: list[Span]
    macro: str = ""
    """@every, with its duration as the only field, @triggered, @manual or @reboot; else empty."""


def read(expression: str) -> Words:
    """Return the parts of an expression."""
    _check_characters(expression)
    words = _words(expression)
    zone = None
    if words and (prefix := _ZONE_PREFIX.match(words[0].text)):
        zone = words.pop(0).cut(prefix.end())
    if not words:
        raise _missing(expression, zone)
    _check_no_zone(words)
    if words[0].text.startswith("@"):
        return _macro(zone, words)
    if len(words) not in _FIELD_COUNTS:
        raise _miscounted(words)
    return Words(zone, words)


def _check_characters(expression: str) -> None:
    if len(expression) > LONGEST:
        raise InvalidCron(
            f"the expression has {len(expression)} characters",
            expression=expression[:LONGEST],
            position=LONGEST,
            hint=f"An expression has at most {LONGEST} characters.",
        )
    invalid = _INVALID.search(expression)
    if invalid:
        raise InvalidCron(
            f"the character {invalid[0]!a} is not allowed in an expression",
            expression=expression,
            position=invalid.start(),
            hint="Write ASCII letters, digits and signs, with spaces or tabs between the fields.",
        )


def _missing(expression: str, zone: Span | None) -> InvalidCron:
    if zone is None:
        return InvalidCron("the expression is empty", expression=expression, hint=_FIELDS_HINT)
    return zone.cut(len(zone.text)).fault(f"the expression after the zone {zone} is missing", _FIELDS_HINT)


def _check_no_zone(words: list[Span]) -> None:
    """Refuse a zone among the fields, where other programs put it, with a better message than that of the field."""
    known = known_zones()
    for word in words:
        if word.text in known or _LIKE_A_ZONE.fullmatch(word.text):
            raise word.fault(
                f"the zone {word} is among the fields",
                f"Write TZ={word.text[:_LONGEST_SHOWN]} before the fields, or give it as the timezone.",
            )


def _words(expression: str) -> list[Span]:
    return [Span(expression, word.start(), word[0]) for word in _WORD.finditer(expression)]


def _miscounted(words: list[Span]) -> InvalidCron:
    # Point at the first surplus word, or at the last word if some are missing.
    place = words[7] if len(words) > 7 else words[-1]
    plural = "s" if len(words) > 1 else ""
    return place.fault(f"the expression has {len(words)} field{plural}", _FIELDS_HINT)


def _macro(zone: Span | None, words: list[Span]) -> Words:
    word, *rest = words
    name = word.text.lower()
    if name == EVERY:
        return Words(zone, [_only_span(word, rest)], EVERY)
    if name not in MACROS and name not in _BARE:
        raise word.fault(f"the macro {word} does not exist", _macro_hint(name))
    if rest:
        raise rest[0].fault(f"nothing may follow the macro {name}", "Write the macro alone, or fields instead.")
    return Words(zone, [], name) if name in _BARE else Words(zone, _words(MACROS[name]))


def _macro_hint(name: str) -> str:
    if span := _LIKE_EVERY.fullmatch(name):
        number, *units = filter(None, span.groups())
        return f"Write {EVERY} {number}{units[0]}."
    return suggest(name, _KNOWN, otherwise=f"There are {', '.join(_KNOWN)}.")


def _only_span(every: Span, rest: list[Span]) -> Span:
    if len(rest) != 1:
        place = rest[1] if rest else every
        raise place.fault("@every takes one duration", "Write @every 90s or @every 1h30m, without spaces in it.")
    return rest[0]
