"""foliot workflows: the list, the picture, and active executions."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot, Workflow
from tests.interfaces.conftest import Call
from tests.interfaces.terminal import on_terminal

BOTH_WAYS = True


def execution(call: Call, workflow: str) -> str:
    """Return the newest execution of a workflow."""
    return str(call("runs", "--job", workflow, "-n", "1", "--json").objects[0]["id"])


async def deploy(url: str, document: dict[str, Any]) -> None:
    async with Foliot(url) as app:
        await app.workflows.deploy(document)


async def change_etl(url: str, function: Callable[..., Any] | None = None) -> None:
    changed = Workflow("etl")
    work: dict[str, Any] = {"shell": "true"} if function is None else {}
    changed.step("extract", function, **work)
    app = Foliot(url)
    app.workflow(changed)
    async with app:
        pass


class TestList:
    def test_workflows_lists_version_steps_last_execution_and_next_tick(self, call: Call, plant: Path) -> None:
        code, out, err = call("workflows")

        title, etl, later, release = (re.split(r"  +", line) for line in out.splitlines())
        assert (code, err) == (0, "")
        assert title == ["WORKFLOW", "VERSION", "STEPS", "STATE", "LAST EXECUTION", "STATUS", "NEXT"]
        assert etl[:6] == ["etl", "1", "6", "on", execution(call, "etl"), "failed (step_failed)"]
        assert etl[6].endswith("02:00:00Z")
        assert later[5:] == ["queued", "-"]
        assert release[5:] == ["running", "-"]

    def test_workflows_prints_one_json_object_per_workflow(self, call: Call, plant: Path) -> None:
        etl, later, release = call("workflows", "--json").objects

        assert (etl["id"], etl["steps"], etl["params"]) == ("etl", 6, {"day": "today", "n": 1})
        assert (etl["schedules"], etl["latest_run"]["status"]) == (["nightly"], "failed")
        assert (later["next_run_at"], release["state"]) == (None, "on")

    def test_an_empty_list_of_workflows_prints_a_note_on_standard_error(self, call: Call, shop: Path) -> None:
        assert call("workflows") == (0, "", "no workflows\n")

    def test_a_workflow_with_a_paused_schedule_has_no_next_tick(self, call: Call, plant: Path) -> None:
        call("pause", "nightly")

        etl = call("workflows", "--json").objects[0]
        assert (etl["state"], etl["next_run_at"]) == ("paused", None)

    def test_jobs_lists_step_jobs_only_with_all(self, call: Call, plant: Path) -> None:
        assert "etl.load" not in call("jobs").out
        assert "etl.load" in call("jobs", "--all").out

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (["shwo"], "error: command 'shwo' does not exist\n  Did you mean \"show\"?\n"),
            (
                ["--storage", "x", "show", "etl"],
                "error: --storage is before the command\n  Write: foliot workflows show ... --storage\n",
            ),
        ],
    )
    def test_workflows_refuses_misplaced_options(self, call: Call, plant: Path, wrong: list[str], message: str) -> None:
        assert call("workflows", *wrong) == (2, "", message)


class TestPicture:
    def test_the_picture_shows_the_newest_execution(self, call: Call, plant: Path) -> None:
        code, out, err = call("workflows", "show", "etl")

        assert (code, err) == (0, "")
        assert f"execution    {execution(call, 'etl')} failed\n" in out
        assert out.partition("\n\n")[2].splitlines()[:9] == [
            "                  ┌─────────┐",
            "                  │ extract │",
            "                  │ failure │",
            "                  └────┬────┘",
            "     ┌────────────┬────┴───────────────────────┐",
            '     ▼            ▼ failure, exit code 3       ▼ failure, contains "a \\"b\\...',
            "┌─────────┐  ┌─────────┐                  ┌─────────┐",
            "│  load   │  │  alarm  │                  │  never  │",
            "│ skipped │  │ success │                  │ skipped │",
        ]
        assert "│ cleanup (final) │" in out

    def test_an_execution_that_has_not_started_is_named_in_a_note(self, call: Call, plant: Path) -> None:
        code, out, err = call("workflows", "show", "later")

        assert (code, out.count("│ only  │")) == (0, 1)
        assert err.startswith(f"the newest execution, {execution(call, 'later')}, is not shown here")

    def test_a_given_execution_is_drawn_with_its_own_version(self, call: Call, plant: Path) -> None:
        asyncio.run(change_etl(f"sqlite:///{plant}/foliot.db"))

        newest, former = call("workflows", "show", "etl"), call("workflows", "show", "etl", "--execution", "etl@last")

        assert "etl version 2" in newest.out
        assert "is not shown here" in newest.err
        assert ("failure" in newest.out, "│ failure │" in former.out) == (False, True)
        assert former.out.startswith("workflow     etl version 1\n")
        assert call("workflows", "show", "etl", "--version", "1").out == former.out

    def test_paused_steps_are_marked_in_the_picture(self, call: Call, plant: Path) -> None:
        call("workflows", "pause", "etl", "load")

        assert "load (paused)" in call("workflows", "show", "etl").out
        [shown] = call("workflows", "show", "etl", "--json").objects
        assert [step["name"] for step in shown["steps"] if step["is_paused"]] == ["load"]

    def test_the_document_of_workflows_show_can_be_deployed(self, call: Call, plant: Path) -> None:
        before = call("workflows", "show", "etl", "--json").objects[0]["document"]

        asyncio.run(deploy(f"sqlite:///{plant}/foliot.db", {**before, "id": "copy"}))

        after = call("workflows", "show", "copy", "--json").objects[0]["document"]
        assert {**after, "id": "etl"} == before
        assert before["params"] == {"day": "today", "n": 1}

    def test_workflows_show_hides_secrets_of_the_document_and_has_none_with_functions(
        self, call: Call, plant: Path
    ) -> None:
        step = {"name": "a", "command": "true", "env": {"TOKEN": "hush"}}
        asyncio.run(deploy(f"sqlite:///{plant}/foliot.db", {"id": "quiet", "steps": [step]}))
        asyncio.run(change_etl(f"sqlite:///{plant}/foliot.db", print))

        quiet, etl = (call("workflows", "show", name, "--json").objects[0] for name in ("quiet", "etl"))

        assert quiet["document"]["steps"][0]["env"] == {"TOKEN": "***"}
        assert etl["document"] is None

    def test_workflows_show_prints_one_json_object(self, call: Call, plant: Path) -> None:
        [shown] = call("workflows", "show", "etl", "--json").objects
        [same] = call("workflows", "show", "etl", "--format", "json").objects

        steps = {step["name"]: step for step in shown["steps"]}
        assert same == shown
        assert [step["layer"] for step in shown["steps"]] == [1, 2, 3, 2, 2, 4]
        assert steps["alarm"]["after"] == [
            {
                "step": "extract",
                "when": ["failure"],
                "test": {"exit_code": [3]},
                "words": "failure, exit code 3",
            }
        ]
        assert shown["execution"]["steps"][0]["result"] == "failure"

    @pytest.mark.parametrize(
        ("form", "first", "arrow"),
        [
            ("mermaid", "---", '    s0 -->|"failure, exit code 3"| s2'),
            ("dot", 'digraph "etl version 1" {', '    s0 -> s2 [label="failure, exit code 3"];'),
        ],
    )
    def test_workflows_show_prints_mermaid_and_dot(
        self, call: Call, plant: Path, form: str, first: str, arrow: str
    ) -> None:
        code, out, err = call("workflows", "show", "etl", "--format", form)

        assert (code, err) == (0, "")
        assert out.splitlines()[0] == first
        assert arrow in out.splitlines()
        assert "failure" in out

    def test_the_picture_is_ascii_if_the_locale_has_no_box_characters(self, plant: Path) -> None:
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}

        ended = subprocess.run(
            [sys.executable, "-m", "foliot", "workflows", "show", "etl"],
            cwd=plant, env=environment, capture_output=True, check=True,
        )  # fmt: skip

        assert b"| extract |" in ended.stdout
        assert b"\\u" not in ended.stdout

    def test_the_picture_is_coloured_on_a_terminal(self, plant: Path) -> None:
        screen = on_terminal("workflows", "show", "etl", directory=plant)

        assert "\x1b[31mfailure\x1b[0m" in screen
        assert "┌─────────┐" in screen

    def test_the_picture_is_an_outline_on_a_narrow_terminal(self, plant: Path) -> None:
        screen = on_terminal("workflows", "show", "etl", directory=plant, environment={"COLUMNS": "40"})

        assert "layer 4" in screen
        assert "after extract (failure, exit code 3)" in screen
        assert "┌" not in screen

    @pytest.mark.parametrize(
        ("wrong", "code", "message"),
        [
            (["elt"], 1, "error: workflow 'elt' does not exist\n  Did you mean \"etl\"?"),
            (["zzz"], 1, "error: workflow 'zzz' does not exist\n  List workflows with: foliot workflows"),
            (["good"], 1, "error: workflow 'good' does not exist\n  It is a job: foliot show good"),
            (
                ["etl", "--version", "7"],
                1,
                "error: workflow 'etl version 7' does not exist\n  The newest version is 1.",
            ),
            (["etl", "--version", "0"], 2, "error: Invalid value for '--version'"),
            (["etl", "--format", "svg"], 2, "error: Invalid value for '--format'"),
            (
                ["etl", "--format", "dot", "--json"],
                2,
                '{"severity": "error", "code": "invalid_input", "message": "--json',
            ),
            (["etl", "--execution", "good@last"], 2, "error: run "),
            (["etl", "--execution", "etl.alarm@last"], 2, "error: run "),
            (["etl", "--execution", "release@last"], 2, "error: run "),
            (["later", "--execution", "later@last"], 1, "error: execution "),
            (["etl", "--execution", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], 1, "error: run '01ARZ3NDEKTSV4RRFFQ69G5FAV'"),
            (["etl", "--execution", "etl@last", "--version", "2"], 2, "error: execution "),
        ],
    )
    def test_workflows_show_refuses_invalid_options(
        self, call: Call, plant: Path, wrong: list[str], code: int, message: str
    ) -> None:
        ended, out, err = call("workflows", "show", *wrong)

        assert (ended, out) == (code, "")
        assert err.startswith(message)


class TestActive:
    @pytest.mark.proves("R2-59")
    def test_active_lists_executions_that_are_not_over(self, call: Call, plant: Path) -> None:
        code, out, err = call("workflows", "active")

        [_, line] = out.splitlines()
        assert (code, err) == (0, "")
        assert line.startswith(f"{execution(call, 'release')}  release   1        running")
        assert line.endswith("0 of 2 steps finished; in progress: ask")

    def test_active_filters_by_workflow_and_prints_json(self, call: Call, plant: Path) -> None:
        [waiting] = call("workflows", "active", "--workflow", "release", "--json").objects

        assert [step["status"] for step in waiting["steps"]] == ["scheduled", None]
        assert waiting["steps"][1]["why"] == "waiting for ask"
        assert call("workflows", "active", "--workflow", "etl") == (0, "", "no executions in progress\n")

    def test_active_with_a_missing_workflow_is_an_error(self, call: Call, plant: Path) -> None:
        code, _, err = call("workflows", "active", "--workflow", "relaese")

        assert code == 1
        assert 'Did you mean "release"?' in err

    def test_top_shows_executions_in_progress(self, call: Call, plant: Path) -> None:
        [frame] = call("top", "--json").objects

        assert [(one["workflow_id"], one["unresolved"]) for one in frame["executions"]] == [("release", 2)]
        assert re.search(r"Workflows\nRUN .*\n\w{26}  release version 1  \S+  2 steps\n", call("top", "--once").out)
