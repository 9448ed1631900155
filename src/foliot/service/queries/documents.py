"""Views as JSON documents, and the values that all views share.

Moments are aware datetimes in UTC, spans are seconds, statuses and reasons are words. Nothing in a view is internal:
no token, no revision of a lease, no uid.
"""

from datetime import datetime
from typing import Any, Final

import msgspec

from foliot.domain.instant import SECOND, Instant, to_datetime
from foliot.domain.secrets import public_document

_DOCUMENTS: Final = ("input_payload", "output_payload", "payload", "params")
"""Fields that hold what a run was given, or what it returned."""


def as_json(view: msgspec.Struct) -> dict[str, Any]:
    """A view as plain JSON values: moments as ISO 8601 text, and *** for what may be a secret in the documents
    that a run was given or returned."""
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
