"""The log of a server as text for people: one line per decision, which names the job.

    12:00:00 backup  started  01JQZ8W3F07M4T5V6W8X9YABCD
    12:00:03 backup  success in 3.1 s  01JQZ8W3F07M4T5V6W8X9YABCD
    12:05:00 sync  skipped: overlap with 01JQZ8W3F07M4T5V6W8X9YABCE

Problems are printed as `foliot check` prints them, with their hint on a line of its own. Every value is escaped, so
that no name or error can forge a line.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from foliot.errors import FoliotError
from foliot.interfaces.cli.render.text import counted, escaped
from foliot.interfaces.log_facts import facts_of

Facts = Mapping[str, Any]

_COLOURS: Final = {"red": "31;1", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}
_DIM: Final = "dim"


class _Line(NamedTuple):
    """What is printed after the time: subject, what happened to it, and ids that people copy."""

    text: str
    colour: str = ""
    subject: str = ""
    ids: str = ""


class TextFormatter(logging.Formatter):
    """Formats an event as a line, with indented lines for its hint and traceback."""

    def __init__(self, *, is_coloured: bool = False) -> None:
        super().__init__()
        self._is_coloured = is_coloured

    def format(self, record: logging.LogRecord) -> str:
        event, facts = record.getMessage(), facts_of(record)
        if event == "configuration_problem":
            return self._problem(facts)
        return "\n".join(self._lines(record, event, facts))

    def _lines(self, record: logging.LogRecord, event: str, facts: dict[str, Any]) -> Iterator[str]:
        problems, hint = facts.pop("problems", ()), facts.pop("hint", "")
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, FoliotError):
            facts["problem"], hint = error.message, hint or error.hint
        if event == "node_stopping" and not facts["running"]:
            hint = ""
        yield from map(self._problem, problems)
        at = datetime.fromtimestamp(record.created).astimezone()
        yield f"{self._styled(f'{at:%H:%M:%S}', _DIM)} {self._line(record, event, facts)}"
        if hint:
            yield f"  {escaped(hint)}"
        if record.exc_info and error is not None and not isinstance(error, FoliotError):
            yield from map(escaped, self.formatException(record.exc_info).splitlines())

    def _line(self, record: logging.LogRecord, event: str, facts: Facts) -> str:
        if not _is_ours(record):
            line = _Line(escaped(event), ids=_details(facts))
        elif event in _LINES:
            line = _LINES[event](facts)
        else:
            line = _other(event, facts)
        label = "" if line.subject or record.levelno < logging.WARNING else self._label(record.levelname.lower())
        # The name of the job is not part of the coloured text: it is what people look for.
        parts = (self._styled(escaped(line.subject), "bold"), self._styled(line.text, line.colour))
        return label + "  ".join(part for part in (*parts, self._styled(line.ids, _DIM)) if part)

    def _problem(self, problem: Facts) -> str:
        """Return a problem of a file as `foliot check` prints it."""
        where = f"{escaped(problem['place'])}: " if problem.get("place") else ""
        key = f"{problem['key']}: " if problem.get("key") else ""
        text = f"{where}{self._label(problem['severity'])}{escaped(key + problem['problem'])}"
        return f"{text}\n  {escaped(problem['hint'])}" if problem.get("hint") else text

    def _label(self, severity: str) -> str:
        return f"{self._styled(f'{severity}:', 'yellow' if severity == 'warning' else 'red')} "

    def _styled(self, text: str, colour: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._is_coloured and colour and text else text


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether the message is the name of an event of Foliot. Other packages and jobs log text."""
    return record.name.partition(".")[0] == "foliot"


def _started(facts: Facts) -> _Line:
    attempt = f" (attempt {facts['attempt']})" if facts["attempt"] > 1 else ""
    return _Line(f"started{attempt}", "cyan", facts["job"], escaped(facts["run"]))


def _ended(facts: Facts) -> _Line:
    outcome = facts["outcome"]
    words = {"interrupted": "given back, because the worker stops"}.get(outcome, escaped(outcome))
    colour = "green" if outcome == "success" else "yellow"
    return _Line(f"{words}{_took(facts)}", colour, facts["job"], escaped(facts["run"]))


def _failed(facts: Facts) -> _Line:
    attempt = f", attempt {facts['attempt']}" if facts["attempt"] > 1 else ""
    text = f"failed ({escaped(facts['reason'])}){_took(facts)}{attempt}: {escaped(facts['error'])}"
    return _Line(text, "red", facts["job"], escaped(facts["run"]))


def _tick_ran(facts: Facts) -> _Line:
    caught_up = "" if facts["reason"] == "on_time" else f" ({escaped(facts['reason'])})"
    return _Line(
        f"queued{caught_up}", "", facts["job"] or facts["schedule"], f"{escaped(facts['run'])}{_schedule(facts)}"
    )


def _tick_not_run(facts: Facts) -> _Line:
    overlaps = [escaped(run) for run in facts.get("overlaps", ())]
    because = f"{escaped(facts['reason'])}{' with ' if overlaps else ''}{', '.join(overlaps)}"
    several = (
        f", {facts['count']} ticks from {facts['scheduled_for']} to {facts['until']}" if facts["count"] > 1 else ""
    )
    colour = "red" if facts["outcome"] in ("failed", "missed") else "yellow"
    text = f"{escaped(facts['outcome'])}: {because}{several}"
    return _Line(text, colour, facts["job"] or facts["schedule"], _schedule(facts).lstrip())


def _schedule(facts: Facts) -> str:
    """Return the schedule in brackets, unless it is the inline schedule of the job."""
    is_obvious = facts["schedule"] in (facts["job"], f"{facts['job']}:default")
    return "" if is_obvious else f" ({escaped(facts['schedule'])})"


def _gate_declined(facts: Facts) -> _Line:
    word, colour = ("skipped", "yellow") if facts["action"] == "skip" else ("failed", "red")
    return _Line(f"{word}: {escaped(facts['reason'])}", colour, facts["job"], escaped(facts["run"]))


def _execution_ended(facts: Facts) -> _Line:
    reason = f" ({escaped(facts['reason'])})" if facts["reason"] else ""
    colour = {"success": "green", "failed": "red", "timeout": "red"}.get(facts["status"], "yellow")
    return _Line(f"{escaped(facts['status'])}{reason}", colour, facts["job"], escaped(facts["run"]))


def _stopping(facts: Facts) -> _Line:
    if not facts["running"]:
        return _Line("stopping: no run is executing")
    return _Line(f"stopping: waiting for {counted(facts['running'], 'run')} until {_clock_time(facts['until'])}")


def _ticks_summarized(facts: Facts) -> _Line:
    counts = (f"{count} {escaped(name.replace(':', ' (', 1))})" for name, count in facts["ticks"].items())
    return _Line(f"more ticks in this second: {', '.join(counts)}")


def _attempts_summarized(facts: Facts) -> _Line:
    return _Line(f"more runs in this second: {facts['started']} started, {facts['succeeded']} succeeded")


def _outage_ended(facts: Facts) -> _Line:
    rounds = counted(facts["failed_rounds"], "round")
    return _Line(f"the outage has ended after {facts['seconds']:g} s; {rounds} failed", "green")


_LEASES_LOST: Final = (
    "the leases were not renewed in time: this worker ends its runs, because other workers may have them now"
)
_LINES: Final[Mapping[str, Callable[[Facts], _Line]]] = {
    "attempt_started": _started,
    "attempt_ended": _ended,
    "attempt_failed": _failed,
    "attempts_summarized": _attempts_summarized,
    "execution_ended": _execution_ended,
    "tick_ran": _tick_ran,
    "tick_not_run": _tick_not_run,
    "ticks_summarized": _ticks_summarized,
    "gate_declined": _gate_declined,
    "storage_outage_began": lambda facts: _Line(escaped(facts["problem"])),
    "storage_outage_ended": _outage_ended,
    "registered_with_server": lambda facts: _Line(
        f"registered with the server{', with labels ' if facts['labels'] else ''}{_plain(facts['labels'])}",
        ids=escaped(facts["worker"]),
    ),
    "worker_leases_lost": lambda facts: _Line(_LEASES_LOST),
    "finishes_discarded": lambda facts: _Line(
        f"{counted(len(facts['tokens']), 'result')} not accepted: the lease had ended"
    ),
    "configuration_applied": lambda facts: _Line(f"configuration applied: {escaped(facts['changes'])}"),
    "leases_reaped": lambda facts: _Line(f"runs of lost workers were freed: {_plain(facts['runs'])}"),
    "worker_processes_gone": lambda facts: _Line(f"the processes of workers have ended: {_plain(facts['workers'])}"),
    "node_stopping": _stopping,
}
"""Events with a text of their own. Others are printed with their name and values."""


def _other(event: str, facts: Facts) -> _Line:
    name, rest = event.replace("_", " "), dict(facts)
    problem = str(rest.pop("problem", "") or rest.pop("error", ""))
    texts = [name, *([escaped(problem)] if problem else [])]
    details = _details(rest)
    return _Line(": ".join([*texts, *([details] if details and not problem else [])]), ids=details if problem else "")


def _details(facts: Facts) -> str:
    return ", ".join(f"{name} {_plain(value)}" for name, value in facts.items())


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(_plain, value))
    return escaped(value if isinstance(value, str) else json.dumps(value, default=str))


def _took(facts: Facts) -> str:
    """Return ` in 3.1 s`, if the duration is known."""
    if "took_ms" not in facts:
        return ""
    length = facts["took_ms"]
    if length < 1_000:
        return f" in {length} ms"
    if length < 60_000:
        return f" in {length / 1_000:.1f} s"
    minutes, seconds = divmod(length // 1_000, 60)
    return f" in {minutes} min {seconds} s" if minutes < 60 else f" in {minutes // 60} h {minutes % 60} min"


def _clock_time(iso: str) -> str:
    return f"{datetime.fromisoformat(iso).astimezone():%H:%M:%S}"
