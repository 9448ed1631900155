"""foliot trigger: start a run."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foliot import Foliot
from tests.interfaces.conftest import Call

BOTH_WAYS = True


def newest(call: Call) -> dict[str, object]:
    return call("runs", "-n", "1", "--json").objects[0]


def test_trigger_prints_the_id_of_the_new_run(call: Call, shop: Path, trigger: str) -> None:
    code, out, err = call("trigger", "report")

    run = newest(call)
    assert (code, out, err) == (0, f"{run['id']}\n", "")
    assert (run["job_id"], run["trigger"], run["status"]) == ("report", trigger, "queued")


def test_trigger_sets_payload_and_priority(call: Call, shop: Path) -> None:
    [answer] = call("trigger", "report", "--payload", '{"n": [1]}', "--priority", "7", "--json").objects

    run = newest(call)
    assert answer == {"run_id": run["id"]}
    assert (run["input_payload"], run["priority"]) == ({"n": [1]}, 7)


def test_trigger_reads_a_payload_from_a_file(call: Call, shop: Path) -> None:
    (shop / "payload.json").write_text("[1, 2]")

    call("trigger", "report", "--payload", "@payload.json")

    assert newest(call)["input_payload"] == [1, 2]


@pytest.mark.local
@pytest.mark.parametrize("command", [["trigger"], ["workflows", "start"]])
def test_a_name_that_only_the_file_has_is_said_to_be_in_the_file(call: Call, shop: Path, command: list[str]) -> None:
    text = '[[workflows]]\nid = "nightly"\nlimit = 7\n[[workflows.steps]]\nname = "a"\ncommand = "true"\n'
    (shop / "foliot.toml").write_text(text)

    code, _, err = call(*command, "nightly")

    assert code == 1
    assert "foliot.toml:1 has it, but it is not applied. See: foliot check; then: foliot reload" in err
    assert "not applied" not in call(*command, "nightl").err


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ('{"a": }', "--payload is not JSON: Expecting value at line 1, column 7"),
        ("", "--payload is not JSON: Expecting value at line 1, column 1"),
        ("@nowhere.json", "the file 'nowhere.json' could not be read"),
        ("[" * 100_000, "--payload is nested too deep"),
        ("9" * 5_000, "--payload holds a number of more than 4300 digits"),
        (f"@{'x' * 5_000}", "the file 'xxx"),
    ],
)
def test_an_invalid_payload_starts_no_run(call: Call, shop: Path, payload: str, message: str) -> None:
    code, out, err = call("trigger", "report", "--payload", payload)

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert len(err) < 1_000
    assert len(call("runs", "--json").objects) == 4


@pytest.mark.parametrize(
    ("when", "least"), [(["--delay", "2h"], timedelta(hours=2)), (["--at", "2100-01-01"], timedelta(days=9_000))]
)
def test_trigger_with_at_or_delay_schedules_the_run(call: Call, shop: Path, when: list[str], least: timedelta) -> None:
    call("trigger", "report", *when)

    run = newest(call)
    due = datetime.fromisoformat(str(run["due_at"]))
    assert run["status"] == "scheduled"
    assert due - datetime.now(UTC) > least - timedelta(minutes=1)


@pytest.mark.parametrize(
    "wrong", [["--delay", "soon"], ["--at", "noon"], ["--delay", "1h", "--at", "2100-01-01"], ["--priority", "9999"]]
)
def test_invalid_trigger_options_start_no_run(call: Call, shop: Path, wrong: list[str]) -> None:
    assert call("trigger", "report", *wrong).code == 2
    assert len(call("runs", "--json").objects) == 4


def test_a_length_of_time_for_at_is_refused_with_a_hint_at_delay(call: Call, shop: Path) -> None:
    code, _, err = call("trigger", "report", "--at", "24h")

    assert (code, "use --delay" in err, '"24h"' in err) == (2, True, False)
    assert call("trigger", "report", "--delay", "24h").code == 0


def test_triggering_twice_with_a_key_returns_the_first_run(call: Call, shop: Path) -> None:
    first = call("trigger", "report", "--key", "once")

    assert call("trigger", "report", "--key", "once").out == first.out


def test_triggering_a_missing_job_suggests_the_closest_match(call: Call, shop: Path) -> None:
    assert call("trigger", "reprot") == (
        1, "", "error: job 'reprot' does not exist\n  Did you mean \"report\"?\n",
    )  # fmt: skip


@pytest.mark.usefixtures("worker")
class TestWaiting:
    def test_waiting_for_a_success_exits_with_0(self, call: Call) -> None:
        code, out, err = call("trigger", "report", "--wait")

        assert (code, len(out.strip()), err) == (0, 26, "success\n")

    def test_waiting_for_a_failure_exits_with_1_and_prints_the_error(self, call: Call) -> None:
        code, _, err = call("trigger", "broken", "--wait")

        assert (code, err) == (1, "failed (exit_code): exit code 3\n")

    def test_trigger_with_follow_prints_the_output(self, call: Call) -> None:
        code, out, err = call("trigger", "broken", "--follow")

        assert (code, out) == (1, "try\ntry\n")
        assert err.splitlines()[-1] == "failed (exit_code): exit code 3"

    def test_waiting_with_json_prints_the_run(self, call: Call) -> None:
        [run] = call("trigger", "report", "--wait", "--json").objects

        assert run["status"] == "success"


@pytest.mark.usefixtures("worker")
class TestFollowedWorkflow:
    @pytest.fixture
    def flow(self, shop: Path, request: pytest.FixtureRequest) -> None:
        document: dict[str, object] = {
            "id": "flow",
            "steps": [
                {"name": "load", "command": "exit 3"},
                {
                    "name": "next",
                    "after": {"step": "load", "when": "failure"},
                    "command": "true",
                    "recovers": request.param,
                },
            ],
        }
        asyncio.run(deploy(f"sqlite:///{shop}/foliot.db", document))

    @pytest.mark.parametrize("flow", [False], indirect=True)
    def test_a_step_after_a_failure_does_not_change_the_exit_code(self, call: Call, flow: None) -> None:
        code, _, err = call("trigger", "flow", "--follow")

        assert (code, err.splitlines()[-1]) == (1, "failed (step_failed): step load did not succeed")

    @pytest.mark.parametrize("flow", [True], indirect=True)
    def test_a_recovered_failure_is_a_success_and_is_named(self, call: Call, flow: None) -> None:
        code, _, err = call("trigger", "flow", "--follow")
        [run] = call("show", "flow@last", "--json").objects

        assert (code, err.splitlines()[-1]) == (0, "success")
        assert [step["recovered_by"] for step in run["execution"]["steps"]] == [["next"], []]
        assert run["why"] == "2 steps: 1 success, 1 failure; recovered: load by next"
        assert "failure (recovered by next)" in call("show", "flow@last").out
        assert "next (recovers)" in call("workflows", "show", "flow").out


async def deploy(url: str, document: dict[str, object]) -> None:
    async with Foliot(url) as app:
        await app.workflows.deploy(document)
