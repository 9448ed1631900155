"""Values of options: moments and lengths of time (24h, 7d, 90s, ISO 8601), seconds, and JSON."""

import json
import math
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click

from foliot.domain.input.timing import span_in_words
from foliot.errors import InvalidInput, shortened

_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,3})?")
_EXAMPLE: Final = 'Use ISO 8601, such as "2026-01-31T08:00Z".'
_FUTURE_EXAMPLE: Final = 'Use "90m", "24h" or "2026-01-31T08:00Z".'
_PAST_EXAMPLE: Final = 'Use "24h", "7d" or "2026-01-31T08:00Z".'


def parse_past(text: str, now: datetime) -> datetime:
    """Return a moment in the past: `90m`, `24h`, `7d` before now, or ISO 8601."""
    length = _span(text)
    if length is None:
        return parse_moment(text, hint=_PAST_EXAMPLE)
    try:
        return now - length
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def parse_future(text: str, now: datetime) -> datetime:
    """Return a moment in the future: `90m`, `24h`, `7d` from now, or ISO 8601."""
    length = _span(text)
    if length is None:
        return parse_moment(text, hint=_FUTURE_EXAMPLE)
    try:
        return now + length
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def parse_moment(text: str, *, hint: str = _EXAMPLE) -> datetime:
    """Return a moment in ISO 8601, in UTC unless it has an offset."""
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{text[:64]!a} is not a time", hint=hint) from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def parse_span(text: str) -> timedelta:
    """Return a length of time: 90, 90s, 1.5h, 1h30m, 7d. A number without a unit is seconds."""
    length = _span(text)
    if length is None:
        raise InvalidInput(f"{text[:64]!a} is not a duration", hint='Use "90s", "15m", "24h" or "7d".')
    return length


def _span(text: str) -> timedelta | None:
    is_number = _NUMBER.fullmatch(text.strip()) is not None
    return span_in_words(f"{text}s" if is_number else text)


def seconds_within(least: float, most: float) -> Callable[[str], float]:
    """Return an option type: a duration such as 2m or 1.5h, or a number of seconds. Its value is seconds."""

    def duration(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            length = _span(str(value))
            number = math.nan if length is None else length.total_seconds()
        if not least <= number <= most:
            raise click.BadParameter(f"{str(value)[:32]!a} is not {least:g} to {most:g} seconds")
        return number

    return duration


def parse_json(text: str, option: str) -> Any:
    """Return the value of JSON, or of a file with JSON that is named as @FILE. Errors have line and column."""
    field = option.removeprefix("--")
    source, document = (shortened(text[1:]), _content(text[1:], field)) if text.startswith("@") else (option, text)
    try:
        return json.loads(document)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{source} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
            hint=f'Quote it for the shell: {option} \'{{"name": "Ada"}}\'',
            field=field,
        ) from None
    except ValueError:
        digits = f"a number of more than {sys.get_int_max_str_digits()} digits"
        raise InvalidInput(f"{source} holds {digits}", hint="Write it as text, in quotes.", field=field) from None
    except RecursionError:
        raise InvalidInput(f"{source} is nested too deep", hint="Use fewer levels, or text.", field=field) from None


def _content(path: str, field: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"the file {shortened(path)!a} could not be read: {shortened(str(error))}",
            hint=f"Name a file with JSON in UTF-8: @{field}.json",
            field=field,
        ) from None
