"""The progress of a running attempt: a fraction from 0 to 1, and a text for people.

A job reports it as often as it likes; the latest report counts. It is stored with the lease, so it disappears when the
attempt ends.
"""

import math
import unicodedata
from typing import Final, NamedTuple

from foliot.domain.ids import RunId, Token, WorkerId
from foliot.domain.instant import Instant
from foliot.domain.secrets import public_error
from foliot.errors import InvalidInput, shown

MAX_TEXT: Final = 200
_PARTS: Final = 10_000
"""Fractions have four digits."""
_HINT: Final = "Give a fraction of the whole from 0 to 1: 0.4 is 40 percent."


class RunProgress(NamedTuple):
    """What a job reports."""

    fraction: float
    text: str | None = None


class ProgressReport(NamedTuple):
    """The progress of one attempt. Saved only while the token is current."""

    run_id: RunId
    worker_id: WorkerId
    token: Token
    fraction: float
    text: str | None


class SavedProgress(NamedTuple):
    """The latest saved progress of a running attempt."""

    fraction: float
    text: str | None
    at: Instant
    """When it was saved."""


def read_progress(fraction: object, text: object = None) -> RunProgress:
    """Return valid progress, or raise InvalidInput.

    A long text is cut and not refused: a job must not fail because of a long file name. Secrets in it are masked.
    """
    if isinstance(fraction, bool) or not isinstance(fraction, int | float):
        raise InvalidInput(f"progress must be a number, not {shown(fraction)}", hint=_HINT, field="fraction")
    if not 0 <= fraction <= 1:  # also refuses NaN
        number = fraction if isinstance(fraction, int) or math.isfinite(fraction) else str(fraction)
        raise InvalidInput(f"progress {shown(number)} is not between 0 and 1", hint=_HINT, field="fraction")
    if not isinstance(text, str | None):
        raise InvalidInput(
            f"the text of progress must be text, not {shown(text)}", hint="Give a short text.", field="text"
        )
    return RunProgress(round(fraction * _PARTS) / _PARTS, None if text is None else _clean(text))


def percent_of(fraction: float) -> int:
    """Return whole percents, rounded down: 100 means that all is done."""
    # In integers: 0.29 * 100 is less than 29.
    return round(fraction * _PARTS) * 100 // _PARTS


def progress_line(progress: RunProgress) -> str:
    """Return the progress in one line: 40%, loading page 12."""
    percent = f"{percent_of(progress.fraction)}%"
    return percent if progress.text is None else f"{percent}, {progress.text}"


def _clean(text: str) -> str | None:
    """Return the text in one line of limited length, without control characters and halves of surrogate pairs."""
    # More than is kept, because masking a secret or joining spaces can make it shorter. A huge text costs no time.
    start = text[: 4 * MAX_TEXT]
    printable = "".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in start)
    line = public_error(" ".join(printable.split()))
    return (line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…") or None
