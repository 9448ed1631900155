"""Finding what a command is about: an application, a storage, a moment."""

import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from foliot.errors import InvalidInput, suggest

_SPAN: Final = re.compile(r"(\d{1,9})\s*([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def storage_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--storage",
        envvar="FOLIOT_STORAGE",
        default="sqlite:///foliot.db",
        show_default=True,
        help="Database to look into; also FOLIOT_STORAGE.",
    )(function)


def load_app(target: str) -> Any:
    """The application that `module:name` names, looked for from the current directory on."""
    from foliot.app import Foliot

    module_name, _, attribute = target.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise InvalidInput(
            f"module {module_name!a} does not exist", hint="Name it as in: foliot serve package.module:app"
        ) from None
    found = getattr(module, attribute or "app", None)
    if not isinstance(found, Foliot):
        apps = [name for name, value in vars(module).items() if isinstance(value, Foliot)]
        hint = suggest(attribute, apps, otherwise=f"It has: {', '.join(apps) or 'no application'}.")
        raise InvalidInput(f"{module_name} has no application named {attribute or 'app'!a}", hint=hint)
    return found


def moment(text: str, now: datetime) -> datetime:
    """A moment in the past: `90m`, `24h`, `7d` before now, or ISO 8601."""
    match = _SPAN.fullmatch(text.strip())
    if match:
        try:
            return now - timedelta(**{_UNITS[match[2]]: int(match[1])})
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(f"{text[:64]!a} is not a time", hint='Use "24h", "7d" or "2026-01-31T08:00Z".') from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
