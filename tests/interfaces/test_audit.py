"""foliot audit, and who did something on the pages of foliot show."""

import json
import re
from pathlib import Path

import pytest

from foliot.interfaces.cli.login import login_actor
from tests.interfaces.conftest import Call

BOTH_WAYS = True

ME = str(login_actor())
CONFIG = """
[[jobs]]
id = "report"
command = "echo {text}"
env = {{ PASSWORD = "hunter2" }}
schedule = "0 3 * * *"
"""


@pytest.fixture
def config(elsewhere: Path, call: Call) -> Path:
    path = elsewhere / "foliot.toml"
    path.write_text(CONFIG.format(text="one"))
    assert call("reload").code == 0
    return path


@pytest.mark.proves("Z47")
def test_a_deployment_is_recorded_with_its_file_and_without_secrets(call: Call, config: Path) -> None:
    config.write_text(CONFIG.format(text="two"))
    call("reload")

    changed, *created = call("audit", "--json").objects
    assert {entry["kind"] for entry in created} == {"job", "schedule"}
    assert (changed["action"], changed["id"], changed["actor"]) == ("change", "report", ME)
    assert changed["detail"] == str(config)
    assert changed["before"]["command"] == "echo one"
    assert changed["after"]["command"] == "echo two"
    assert "hunter2" not in json.dumps([changed, *created])


def test_a_list_can_be_continued(call: Call, config: Path) -> None:
    call("pause", "report")
    whole = call("audit", "--json").objects
    first = call("audit", "--json", "-n", "2").objects
    rest = call("audit", "--json", "--before", first[-1]["cursor"]).objects

    assert [*first, *rest] == whole
    assert "--before" in call("audit", "-n", "2").err
    assert call("audit", "--before", "x").code == 2


def test_a_list_can_be_filtered(call: Call, config: Path) -> None:
    assert call("audit", "--actor", "token:x").err == "no changes\n"
    assert {entry["kind"] for entry in call("audit", "--json", "--id", "report", "--actor", ME).objects} == {"job"}
    assert call("audit", "--json", "--since", "1h").objects


def test_the_list_names_changed_fields(call: Call, config: Path) -> None:
    config.write_text(CONFIG.format(text="two"))
    call("reload")

    assert "command: echo one -> echo two" in " ".join(call("audit").out.split())


def test_a_run_says_who_triggered_and_cancelled_it(call: Call, config: Path, actor: str, trigger: str) -> None:
    run_id = call("trigger", "report", "--json").objects[0]["run_id"]
    call("cancel", run_id)

    page = call("show", run_id)
    assert f"{actor} ({trigger})" in page.out
    assert re.search(f"cancelled by +{actor} at", page.out)
    actions = call("show", run_id, "--json").objects[0]["actions"]
    assert [(one["action"], one["actor"]) for one in actions] == [("trigger", actor), ("cancel", actor)]


def test_a_schedule_and_a_job_say_who_paused_them(call: Call, config: Path, actor: str) -> None:
    call("pause", "report")

    [job] = call("show", "report", "--json").objects
    assert (job["paused_by"], job["schedules"][0]["paused_by"]) == (actor, actor)
    assert re.search(f"paused by +{actor}", call("show", "report").out)
    call("resume", "report")
    [job] = call("show", "report", "--json").objects
    assert (job["paused_by"], job["schedules"][0]["paused_by"]) == (None, None)


def test_changes_have_the_names_and_units_of_files(call: Call, config: Path) -> None:
    text = config.read_text()
    config.write_text(text + 'timeout = "2h"\nretries = 2\nretry_delay = "5m"\njitter = "90s"\n')
    call("reload")

    after = {entry["kind"]: entry["after"] for entry in call("audit", "--json", "--since", "1h").objects[:2]}
    assert after["job"] == {"retries": 2, "retry_delay": 300, "timeout": 7200}
    assert after["schedule"] == {"jitter": 90}
