"""Turns views into JSON documents, and converts the values that all views share.

Times are aware datetimes in UTC, durations are seconds, statuses and reasons are text. Views contain no internal
values such as tokens, lease revisions or uids.
"""

from datetime import datetime
from typing import Any, Final

import msgspec

from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.secrets import public_document

_DOCUMENTS: Final = ("input_payload", "output_payload", "payload", "params")
"""The fields with the input or output of a run, which may contain secrets."""


def as_json(view: msgspec.Struct) -> dict[str, Any]:
    """Return a view as plain JSON values: times as ISO 8601 text, and *** for possible secrets in the input and output
    of a run."""
    return _public(msgspec.to_builtins(view))


def _public(plain: dict[str, Any]) -> dict[str, Any]:
    shown = {name: public_document(value) if name in _DOCUMENTS else value for name, value in plain.items()}
    if isinstance(shown.get("latest_run"), dict):
        shown["latest_run"] = _public(shown["latest_run"])
    return shown


def moment(instant: Instant | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


def seconds(begin: Instant | None, end: Instant | None) -> float | None:
    return None if begin is None or end is None else (end - begin) / SECOND
