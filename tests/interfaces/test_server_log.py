"""The log of a server: one line per event."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from foliot.interfaces.logs import JsonFormatter, LineHandler, configure_logging
from foliot.interfaces.text_log import TextFormatter

FORKING = """
import logging, os
from foliot.interfaces.logs import configure_logging
configure_logging("json", "info")
logging.info("before")
if not os.fork():
    logging.info("in_the_child")
    os._exit(0)
os.wait()
logging.info("after")
"""


class Log:
    def __init__(self, formatter: logging.Formatter, *, echo: bool = False) -> None:
        self._ours, self.theirs = os.pipe()
        self.handler = LineHandler(formatter, self.theirs, "utf-8", echo=echo)
        self.logger = logging.Logger("test")
        self.logger.addHandler(self.handler)

    def text(self) -> str:
        self.handler.flush()
        return os.read(self._ours, 65_536).decode()

    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text().splitlines()]

    def close(self) -> None:
        os.close(self._ours)
        os.close(self.theirs)


@pytest.fixture
def log() -> Iterator[Log]:
    log = Log(JsonFormatter())
    yield log
    log.close()


def test_a_log_event_is_one_json_object_with_facts_and_error(log: Log) -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        log.logger.exception("it_failed", extra={"run": "r1"})

    [event] = log.objects()
    assert (event["level"], event["event"], event["run"]) == ("error", "it_failed", "r1")
    assert event["error"].endswith("ValueError: two\nlines")


def test_log_facts_are_formatted_when_they_are_logged(log: Log) -> None:
    roles = ["worker"]
    log.logger.info("started", extra={"roles": roles})
    roles.clear()

    assert log.objects()[0]["roles"] == ["worker"]


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_dropped_log_lines_are_reported_as_an_event(formatter: logging.Formatter) -> None:
    log = Log(formatter)
    log.handler.lines.put(log.handler.lines._dropped_line(7))

    said = log.text()

    assert all(word in said for word in ("lines", "dropped", "warning", "count", "7", "standard error"))
    log.close()


def test_a_log_event_that_cannot_be_formatted_is_reported_and_logging_continues(log: Log) -> None:
    log.logger.info("%d", "no number")
    log.logger.info("next")

    failed, after = log.objects()
    assert failed["event"] == "line_not_formatted"
    assert "TypeError: %d format" in failed["error"]
    assert after["event"] == "next"


@pytest.mark.parametrize("echo", [False, True])
def test_records_of_runs_are_in_the_log_of_the_server_only_if_asked_for(echo: bool) -> None:
    log = Log(JsonFormatter(), echo=echo)
    log.logger.info("of a run", extra={"foliot_run": "r1"})
    log.logger.info("an_event")

    events = [(event["event"], event.get("run")) for event in log.objects()]
    assert events == [*([("of a run", "r1")] if echo else []), ("an_event", None)]
    log.close()


def test_the_level_of_the_server_does_not_hide_records_from_the_logs_of_runs() -> None:
    configure_logging("json", "error")
    try:
        assert logging.getLogger("shop").isEnabledFor(logging.INFO)
        assert not logging.getLogger("foliot.engine").isEnabledFor(logging.WARNING)
        configure_logging("json", "debug")
        assert logging.getLogger("foliot.engine").isEnabledFor(logging.DEBUG)
    finally:
        logging.getLogger("foliot").setLevel(logging.NOTSET)


def test_a_forked_child_can_log_and_a_normal_exit_loses_no_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING], capture_output=True, text=True, check=True, timeout=60
    )

    events = [json.loads(line)["event"] for line in ended.stderr.splitlines()]
    assert sorted(events) == ["after", "before", "in_the_child"]
