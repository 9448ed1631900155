"""Reducers of a real server read the manifest and the results of their fanout."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.scenarios.server import Place

FOLIOT = f"{sys.executable} -m foliot"
FANOUT = """
[[jobs]]
id = "digest"
kind = "fanout"
items = ["a", "b c", "$(echo x)", "bad"]
partial_tolerance = 0.25
output = "text"
command = 'test "$FANOUT_ITEM" != bad && printf "got %s" "$FANOUT_ITEM"'

[jobs.reducer]
"""
FUNCTION = """
from foliot import current_run

def combine(**summary):
    for result in current_run().results():
        print(result.index, result.item, result.status, result.output)
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "tasks.py").write_text(FUNCTION)
    return Place(tmp_path)


def test_a_command_reads_the_manifest_and_the_results(place: Place) -> None:
    commands = ('echo "$FOLIOT_MANIFEST"', 'cat "$FOLIOT_MANIFEST"', f"{FOLIOT} results", f"{FOLIOT} results --failed")
    place.file.write_text(f"{FANOUT}command = '{'; '.join((*commands, f'{FOLIOT} results --json'))}'")

    with place.serve():
        path, *lines = reduce(place)
        assert not os.path.exists(path)  # noqa: PTH110

    manifest, printed, objects = list(map(json.loads, lines[:4])), lines[4:8], list(map(json.loads, lines[8:]))
    assert [(line["index"], line["item"], line["status"], line["exit_code"]) for line in manifest] == [
        (0, "a", "success", 0),
        (1, "b c", "success", 0),
        (2, "$(echo x)", "success", 0),
        (3, "bad", "failed", 1),
    ]
    assert [line["output"] for line in manifest] == [f"run:{line['run_id']}" for line in manifest[:3]] + [None]
    assert printed == ["got a", "got b c", "got $(echo x)", "bad\tfailed\texit code 1"]
    assert [one["output"] for one in objects] == ["got a", "got b c", "got $(echo x)", None]


def reduce(place: Place) -> list[str]:
    """Run the fanout, and return what the reducer printed."""
    place.foliot("trigger", "digest", "--wait")
    printed = place.objects("logs", "digest.reducer@last")
    return "".join(line["text"] for line in printed if line.get("stream") == "stdout").splitlines()


def test_an_isolated_function_reads_the_results(place: Place) -> None:
    place.file.write_text(f'{FANOUT}inner_kind = "python"\ncommand = "tasks:combine"')

    with place.serve():
        printed = reduce(place)

    assert printed == [
        "0 a success got a",
        "1 b c success got b c",
        "2 $(echo x) success got $(echo x)",
        "3 bad failed None",
    ]


def test_a_job_outside_of_a_fanout_has_no_results(place: Place) -> None:
    place.file.write_text(f"[[jobs]]\nid = 'lone'\ncommand = '{FOLIOT} results'\n")
    with place.serve():
        place.foliot("trigger", "lone", "--wait", code=1)
        log = "".join(line.get("text", "") for line in place.objects("logs", "lone@last"))

    assert "error: this run has no results to read" in log
    assert "FOLIOT_CHANNEL is not set" in place.foliot("results", code=1)
