"""Fanouts of real commands: items arrive byte by byte, and a cancellation ends every process."""

import base64
import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.scenarios.server import Place, until

HOSTILE: Final = (
    b"two words",
    b"'single' \"double\" \\back\\slash\\",
    b"line one\nline two\n",
    b"$(touch canary)",
    b"`touch canary`",
    b"; touch canary; #",
    b"| touch canary & touch canary",
    b"$HOME $PATH ~ %s %n * ?",
    b"--help",
    b"-n -e",
    b"",
    b"\t \r\x01\x7f\x1b[31m",
    "emoji 🦊 and käse".encode(),
    b"\xff\xfe not UTF-8 \x80",
    b'{"item_base64": "AAAA"}',
    b"{{ params.x }} {FANOUT_ITEM}",
)
SAVE: Final = 'printf %s "$TARGET" > "items/$FOLIOT_ITEM_INDEX"; env -0 > "env/$FOLIOT_ITEM_INDEX"; : $TARGET'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("items", "env", "pids"):
        (tmp_path / name).mkdir()
    return Place(tmp_path)


@pytest.mark.proves("R0-31", "R0-32", "R0-35", "R0-65", "F10")
def test_every_item_reaches_its_command_unchanged_and_executes_nothing(place: Place) -> None:
    define(place, SAVE, items=[as_json(item) for item in HOSTILE], item_var="TARGET", env={"GREETING": "it's $HOME"})

    with place.serve():
        run_id = trigger(place, "--wait")

    found = [(place.directory / "items" / str(index)).read_bytes() for index in range(len(HOSTILE))]
    assert found == list(HOSTILE)
    assert not (place.directory / "canary").exists()
    for index, item in enumerate(HOSTILE):
        assert (
            environment_of(place, index).items()
            >= {
                "TARGET": item,
                "GREETING": b"it's $HOME",
                "FOLIOT_PARENT_RUN_ID": run_id.encode(),
                "CRONLORD_PARENT_RUN_ID": run_id.encode(),
                "FOLIOT_ITEM_INDEX": str(index).encode(),
                "FOLIOT_ITEM_COUNT": str(len(HOSTILE)).encode(),
            }.items()
        )


@pytest.mark.proves("R0-31")
def test_the_variable_of_an_item_has_a_default_name(place: Place) -> None:
    define(place, 'printf %s "$FANOUT_ITEM" > "items/$FOLIOT_ITEM_INDEX"', items=["a", {"host": "b"}, 7])

    with place.serve():
        trigger(place, "--wait")

    assert [(place.directory / "items" / str(index)).read_text() for index in range(3)] == ["a", '{"host":"b"}', "7"]


@pytest.mark.proves("R0-55", "R0-56", "F7")
def test_a_cancelled_fanout_terminates_and_then_kills_its_processes(place: Place) -> None:
    wait = "while :; do sleep 0.05; done"
    polite = f"trap ': > cleaned; exit 1' TERM; echo $$ > pids/polite; {wait}"
    stubborn = f"trap '' TERM; echo $$ > pids/stubborn; {wait}"
    define(
        place, f'if [ "$FANOUT_ITEM" = 0 ]; then {polite}; else {stubborn}; fi', items=list(range(10)), concurrency=2
    )

    with place.serve():
        run_id = trigger(place)
        pids = [pid_of(place, name) for name in ("polite", "stubborn")]
        place.foliot("cancel", run_id)
        until(lambda: status_of(place, run_id) == "cancelled", lambda: place.foliot("show", run_id))

    assert [Path(f"/proc/{pid}").exists() for pid in pids] == [False, False]
    assert (place.directory / "cleaned").exists()
    assert sorted(path.name for path in (place.directory / "pids").iterdir()) == ["polite", "stubborn"]


def test_a_step_of_a_file_fans_out_over_the_lines_of_an_earlier_step(place: Place) -> None:
    place.file.write_text(
        """
[[workflows]]
id = "flow"

[[workflows.steps]]
name = "list"
command = "printf 'a b\\\\n$(touch canary)\\\\n'"
output = "text"

[[workflows.steps]]
name = "scan"
after = "list"
kind = "fanout"
inputs_from = "steps.list.output"
command = 'printf %s "$FANOUT_ITEM" > "items/$FOLIOT_ITEM_INDEX"'
"""
    )

    with place.serve():
        place.foliot("trigger", "flow", "--wait")

    assert [(place.directory / "items" / str(index)).read_text() for index in range(2)] == ["a b", "$(touch canary)"]
    assert not (place.directory / "canary").exists()


def as_json(item: bytes) -> Any:
    try:
        return item.decode()
    except UnicodeDecodeError:
        return {"item_base64": base64.b64encode(item).decode()}


def define(place: Place, command: str, **keys: Any) -> None:
    """Write a file with one fanout. TOML accepts the texts, numbers and lists of JSON."""
    lines = {"id": "scan", "kind": "fanout", "command": command, **keys}
    place.file.write_text("[[jobs]]\n" + "".join(f"{name} = {in_toml(value)}\n" for name, value in lines.items()))


def in_toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{name} = {in_toml(item)}" for name, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(in_toml, value)) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def trigger(place: Place, *options: str) -> str:
    [run] = place.objects("trigger", "scan", *options)
    return str(run.get("run_id") or run["id"])


def status_of(place: Place, run_id: str) -> str:
    [page] = place.objects("show", run_id)
    return str(page["status"])


def pid_of(place: Place, name: str) -> int:
    path = place.directory / "pids" / name
    until(lambda: path.exists() and path.read_text().strip(), lambda: f"{name} has not begun")
    return int(path.read_text())


def environment_of(place: Place, index: int) -> dict[str, bytes]:
    lines = (place.directory / "env" / str(index)).read_bytes().split(b"\0")
    return {name.decode(): value for name, _, value in (line.partition(b"=") for line in lines if line)}
