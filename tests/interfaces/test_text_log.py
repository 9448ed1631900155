"""The log of a server on a terminal: one line per decision, which names the job."""

import json
import logging
import re
import sys
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

from foliot.errors import StorageUnavailable
from foliot.interfaces.logs import JsonFormatter
from foliot.interfaces.text_log import TextFormatter
from tests.interfaces.terminal import Terminal

RUN = "01JQZ8W3F07M4T5V6W8X9YABCD"
OTHER = "01JQZ8W3F07M4T5V6W8X9YABCE"
TICK: dict[str, Any] = {
    "job": "sync",
    "schedule": "sync:default",
    "scheduled_for": "2026-01-01T12:05:00Z",
    "until": "",
    "count": 1,
}
SEVERAL: dict[str, Any] = {"count": 5, "until": "2026-01-01T13:00:00Z"}
DONE: dict[str, Any] = {"job": "backup", "run": RUN, "attempt": 1}
COLOURS = re.compile("\x1b\\[[0-9;]*m")


def event(name: str, level: int = logging.INFO, logger: str = "foliot.engine", **facts: Any) -> logging.LogRecord:
    known = {"name": logger, "msg": name, "levelno": level, "levelname": logging.getLevelName(level)}
    return logging.makeLogRecord({**known, **facts})


def shown(record: logging.LogRecord) -> str:
    """Return the text of an event without its time."""
    text = TextFormatter().format(record)
    assert re.match(r"\d\d:\d\d:\d\d ", text)
    return text[9:]


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (event("attempt_started", **DONE), f"backup  started  {RUN}"),
        (event("attempt_started", **DONE | {"attempt": 2}), f"backup  started (attempt 2)  {RUN}"),
        (event("attempt_ended", **DONE, outcome="success", took_ms=3_100), f"backup  success in 3.1 s  {RUN}"),
        (event("attempt_ended", **DONE, outcome="success", took_ms=84), f"backup  success in 84 ms  {RUN}"),
        (event("attempt_ended", **DONE, outcome="success", took_ms=125_000), f"backup  success in 2 min 5 s  {RUN}"),
        (event("attempt_ended", **DONE, outcome="success", took_ms=7_380_000), f"backup  success in 2 h 3 min  {RUN}"),
        (
            event("attempt_failed", logging.WARNING, **DONE, reason="exit_code", error="exit code 2", took_ms=900),
            f"backup  failed (exit_code) in 900 ms: exit code 2  {RUN}",
        ),
        (
            event("attempt_ended", **DONE, outcome="interrupted"),
            f"backup  given back, because the worker stops  {RUN}",
        ),
        (event("tick_ran", **TICK, run=RUN, reason="on_time"), f"sync  queued  {RUN}"),
        (
            event("tick_ran", **TICK | {"schedule": "hourly"}, run=RUN, reason="caught_up"),
            f"sync  queued (caught_up)  {RUN} (hourly)",
        ),
        (
            event("tick_not_run", **TICK, outcome="skipped", reason="overlap", overlaps=[OTHER]),
            f"sync  skipped: overlap with {OTHER}",
        ),
        (event("tick_not_run", **TICK, outcome="skipped", reason="overlap"), "sync  skipped: overlap"),
        (
            event("tick_not_run", **TICK | SEVERAL, outcome="missed", reason="down"),
            "sync  missed: down, 5 ticks from 2026-01-01T12:05:00Z to 2026-01-01T13:00:00Z",
        ),
        (
            event("gate_declined", job="digest", run=RUN, action="skip", reason="dep_missing"),
            f"digest  skipped: dep_missing  {RUN}",
        ),
        (
            event("execution_ended", logging.WARNING, job="etl", run=RUN, status="failed", reason="step_failed"),
            f"etl  failed (step_failed)  {RUN}",
        ),
        (
            event("attempts_summarized", started=900, succeeded=870),
            "more runs in this second: 900 started, 870 succeeded",
        ),
        (
            event("ticks_summarized", ticks={"ran:on_time": 9, "skipped:overlap": 1}),
            "more ticks in this second: 9 ran (on_time), 1 skipped (overlap)",
        ),
        (
            event("storage_outage_began", logging.ERROR, duty="reaper", problem="the disk is full", hint="Free some."),
            "error: the disk is full\n  Free some.",
        ),
        (
            event("storage_outage_ended", logging.WARNING, failed_rounds=1, seconds=12.3),
            "warning: the outage has ended after 12.3 s; 1 round failed",
        ),
        (
            event("registered_with_server", worker=RUN, labels=["gpu", "linux"]),
            f"registered with the server, with labels gpu linux  {RUN}",
        ),
        (event("registered_with_server", worker=RUN, labels=[]), f"registered with the server  {RUN}"),
        (
            event("worker_leases_lost", logging.ERROR, worker="01M7TW6JXE3YJHFXABFWFX9M02"),
            "error: the leases were not renewed in time: this worker ends its runs, because other workers may have "
            "them now",
        ),
        (
            event("finishes_discarded", logging.WARNING, tokens=[18, 19]),
            "warning: 2 results not accepted: the lease had ended",
        ),
        (
            event("node_stopping", running=2, until="2026-01-01T12:00:40Z", hint="Wait."),
            "stopping: waiting for 2 runs until 12:00:40\n  Wait.",
        ),
        (event("node_stopping", running=0, until="", hint="Wait."), "stopping: no run is executing"),
        (
            event("few_descriptors", logging.WARNING, allowed=9, slots=100, hint="Allow more."),
            "warning: few descriptors: allowed 9, slots 100\n  Allow more.",
        ),
        (event("200 OK", logger="aiohttp.access", size=7), "200 OK  size 7"),
    ],
)
def test_an_event_is_a_line_for_people(record: logging.LogRecord, line: str) -> None:
    assert shown(record) == line


def test_problems_are_printed_as_check_prints_them() -> None:
    place = {"severity": "error", "place": "foliot.toml:3", "key": "jobs.a.cron"}
    problem = {**place, "problem": "wrong", "hint": "Fix it."}
    as_checked = "foliot.toml:3: error: jobs.a.cron: wrong\n  Fix it."

    assert TextFormatter().format(event("configuration_problem", logging.ERROR, **problem)) == as_checked
    refused = TextFormatter().format(event("configuration_refused", logging.ERROR, errors=1, problems=[problem]))
    assert refused.startswith(f"{as_checked}\n")
    assert refused.endswith(" error: configuration refused: errors 1")


def test_every_event_of_the_guide_is_logged() -> None:
    root = Path(__file__).parents[2]
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", (root / "docs/howto/read-the-server-log.md").read_text(), re.MULTILINE)
    events = {name for row in rows for name in re.findall(r"`([a-z]+_[a-z_]+)`", row)}
    source = "".join(file.read_text() for file in (root / "src/foliot").rglob("*.py"))

    assert len(events) > 10
    assert [event for event in events if f'"{event}"' not in source] == []


def test_no_value_can_forge_a_line_or_a_colour() -> None:
    record = event("attempt_failed", **DONE | {"job": "a\nb"}, reason="\x1b[2J", error="x\r12:00:00 y")

    assert shown(record) == f"a\\nb  failed (\\x1b[2J): x\\r12:00:00 y  {RUN}"


def with_error(error: Exception) -> logging.LogRecord:
    try:
        raise error
    except Exception:
        return event("it_failed", logging.ERROR, exc_info=sys.exc_info())


def test_an_expected_error_is_printed_without_traceback() -> None:
    assert shown(with_error(StorageUnavailable("away", hint="Start it."))) == "error: it failed: away\n  Start it."
    assert "Traceback" in shown(with_error(ValueError("a bug")))


def test_colours_do_not_change_the_text() -> None:
    record = event("attempt_failed", logging.WARNING, **DONE, reason="exit_code", error="exit code 2")
    coloured = TextFormatter(is_coloured=True).format(record)

    assert "\x1b[31;1mfailed" in coloured
    assert COLOURS.sub("", coloured) == TextFormatter().format(record)


def test_problems_are_objects_in_json() -> None:
    problems = [{"problem": "wrong", "hint": "Fix it."}]
    line = JsonFormatter().format(event("configuration_refused", logging.ERROR, problems=problems))

    assert json.loads(line)["problems"] == problems


def serve_on_terminal(directory: Path, *options: str, **environment: str) -> str:
    """Run a server until its job has run, and return what it printed."""
    (directory / "foliot.toml").write_text('[[jobs]]\nid = "backup"\ncommand = "true"\nevery = "1s"\n')
    with Terminal("serve", *options, directory=directory, environment=environment) as terminal:
        terminal.read(until="success")
        terminal.send(SIGTERM)
    return terminal.screen


def test_a_server_on_a_terminal_prints_coloured_lines(elsewhere: Path) -> None:
    said = serve_on_terminal(elsewhere)

    assert "\x1b[32msuccess in " in said
    plain = COLOURS.sub("", said).replace("\r", "")
    assert re.search(r"^\d\d:\d\d:\d\d backup  started  [0-9A-Z]{26}$", plain, re.MULTILINE)
    assert re.search(r"^\d\d:\d\d:\d\d backup  success in [\d.]+ m?s  [0-9A-Z]{26}$", plain, re.MULTILINE)
    assert "stopping: " in plain
    assert "queued" not in plain


def test_colours_can_be_switched_off(elsewhere: Path) -> None:
    assert "\x1b[" not in serve_on_terminal(elsewhere, NO_COLOR="1")


def test_json_can_be_asked_for_on_a_terminal(elsewhere: Path) -> None:
    lines = serve_on_terminal(elsewhere, "--log-format", "json").splitlines()

    events = {json.loads(line)["event"] for line in lines if line.startswith("{")}
    assert events >= {"tick_ran", "attempt_started", "attempt_ended", "node_stopping"}
