"""Messages: what a receiver gets, as JSON documents, with possible secrets masked."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.alert import Alert
from foliot.domain.instant import Instant, to_iso
from foliot.domain.notification.rule import Occasion
from foliot.domain.run.run import Run
from foliot.domain.secrets import public_document, public_error

LOG_LINES: Final = 20
_LONGEST_LINE: Final = 500
_LONGEST_ERROR: Final = 4_000
_CUT: Final = "..."


class Message(NamedTuple):
    """A message to one target. A repeated attempt has the same id and the same document."""

    id: str
    document: Mapping[str, Any]


def message_id(seq: int, subject: str, receiver: str) -> str:
    """Return the id of a message: the same for the same event, subject (a run or an alert) and receiver."""
    digest = hashlib.sha256("\n".join((str(seq), subject, receiver)).encode()).hexdigest()
    return f"msg_{digest[:32]}"


def receiver_of(target: str, url: str) -> str:
    """Return a name for a receiver that is the same for the same URL, and does not reveal it."""
    return f"{target}-{hashlib.sha256(url.encode()).hexdigest()[:16]}" if url else target


def run_document(
    run: Run, occasion: Occasion, *, job_name: str = "", log: Sequence[str] = (), failures: int = 0, url: str = ""
) -> dict[str, Any]:
    """Return the document about an ended run. `failures`: in a row, this run included."""
    return {
        "type": "run.ended",
        "occasion": occasion.value,
        "job_id": run.job_id,
        "job_name": job_name or run.job_id,
        "run_id": run.id,
        "status": run.status.value,
        "reason": run.reason,
        "trigger": run.trigger,
        "attempt": run.attempt,
        "exit_code": run.exit_code,
        "started_at": _moment(run.started_at),
        "finished_at": _moment(run.finished_at),
        "error": None if run.error is None else cut(public_error(run.error), _LONGEST_ERROR),
        "failures_in_a_row": failures,
        "log": list(log),
        **({"url": url} if url else {}),
    }


def alert_document(alert: Alert, at: Instant) -> dict[str, Any]:
    return {
        "type": "alert.raised",
        "kind": alert.kind,
        "subject": alert.subject,
        "facts": public_document(dict(alert.facts)),
        "at": to_iso(at),
    }


def sample_document(at: Instant, job_id: str | None, url: str = "") -> dict[str, Any]:
    """Return the document of `foliot alert test`."""
    about = {} if job_id is None else {"job_id": job_id}
    return {"type": "test", "text": "This is a test message from Foliot.", "at": to_iso(at), **about} | (
        {"url": url} if url else {}
    )


def log_lines(chunks: Iterable[bytes]) -> list[str]:
    """Return the last lines of an output as they may be sent."""
    text = b"".join(chunks).decode("utf-8", "backslashreplace")
    lines = [line for line in text.splitlines() if line.strip()][-LOG_LINES:]
    return [cut(public_error(line), _LONGEST_LINE) for line in lines]


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - len(_CUT)] + _CUT


def _moment(instant: Instant | None) -> str | None:
    return None if instant is None else to_iso(instant)
