"""foliot workflows start, rerun, mark, approve, reject, pause and resume; trigger, cancel and runs of workflows."""

import asyncio
import re
from pathlib import Path

import pytest

from foliot import Foliot, Workflow
from tests.interfaces.conftest import Call

BOTH_WAYS = True


async def change_etl(url: str) -> None:
    app, changed = Foliot(url), Workflow("etl", params={"day": "today", "n": 1})
    changed.step("extract", shell="true").step("load", shell="true").after("extract")
    app.workflow(changed)
    async with app:
        pass


async def wait(url: str, run_id: str) -> None:
    async with Foliot(url) as app:
        await app.runs.wait(run_id)


def newest(call: Call, job: str) -> dict[str, object]:
    return call("runs", "--job", job, "-n", "1", "--json").objects[0]


def count(call: Call) -> int:
    return len(call("runs", "-n", "1000", "--json").objects)


class TestStarting:
    def test_start_prints_the_id_of_the_execution(self, call: Call, plant: Path, trigger: str) -> None:
        code, out, err = call("workflows", "start", "etl")

        run = newest(call, "etl")
        assert (code, out, err) == (0, f"{run['id']}\n", "")
        assert (run["trigger"], run["input_payload"]) == (trigger, {"day": "today", "n": 1})

    @pytest.mark.parametrize(
        ("given", "params"),
        [
            (["--params", '{"n": 2}'], {"n": 2}),
            (["--param", "n=2", "--param", "day=2"], {"n": 2, "day": "2"}),
            (["--param", "n=two=2"], {"n": "two=2"}),
            (["--params", '{"n": 2, "day": "x"}', "--param", "n=[3]"], {"n": [3], "day": "x"}),
        ],
    )
    def test_start_accepts_single_parameters_and_json(
        self, call: Call, plant: Path, given: list[str], params: dict[str, object]
    ) -> None:
        [answer] = call("workflows", "start", "etl", "--json", *given).objects

        run = newest(call, "etl")
        assert answer == {"run_id": run["id"]}
        assert run["input_payload"] == params

    def test_start_reads_parameters_from_a_file(self, call: Call, plant: Path) -> None:
        (plant / "params.json").write_text('{"n": 5}')

        call("workflows", "start", "etl", "--params", "@params.json")

        assert newest(call, "etl")["input_payload"] == {"n": 5}

    def test_starting_twice_with_a_key_starts_one_execution(self, call: Call, plant: Path) -> None:
        first = call("workflows", "start", "etl", "--key", "once", "--version", "1")

        assert call("workflows", "start", "etl", "--key", "once").out == first.out

    @pytest.mark.parametrize(
        ("wrong", "code", "said"),
        [
            (["elt"], 1, "error: workflow 'elt' does not exist\n  Did you mean \"etl\"?"),
            (
                ["etl", "--version", "9"],
                1,
                "error: workflow 'etl version 9' does not exist\n  The newest version is 1.",
            ),
            (["etl", "--params", "{"], 2, "error: --params is not JSON: Expecting property name"),
            (["etl", "--params", "[1]"], 2, "error: parameters must be a JSON object, not list"),
            (["etl", "--params", "@no"], 2, "error: the file 'no' could not be read"),
            (["etl", "--params", '{"dya": 1}'], 2, "error: parameter 'dya' does not exist\n  Did you mean \"day\"?"),
            (["etl", "--param", "dya=1"], 2, "error: parameter 'dya' does not exist\n  Did you mean \"day\"?"),
            (["etl", "--param", "day"], 2, "error: --param 'day' is not NAME=VALUE"),
            (["etl", "--param", "=1"], 2, "error: --param '=1' is not NAME=VALUE"),
            (["etl", "--param", "n=1", "--param", "n=2"], 2, "error: parameter 'n' is given twice"),
            (
                ["release", "--param", "n=1"],
                2,
                "error: parameter 'n' does not exist\n  The workflow has no parameters.",
            ),
        ],
    )
    def test_invalid_start_options_start_no_execution(
        self, call: Call, plant: Path, wrong: list[str], code: int, said: str
    ) -> None:
        before = count(call)

        ended, out, err = call("workflows", "start", *wrong)

        assert (ended, out, count(call)) == (code, "", before)
        assert err.startswith(said)

    @pytest.mark.usefixtures("operator")
    def test_start_with_wait_prints_the_result(self, call: Call) -> None:
        code, out, err = call("workflows", "start", "later", "--wait")

        assert (code, len(out.strip()), err) == (0, 26, "success\n")

    @pytest.mark.usefixtures("operator")
    def test_start_with_wait_and_json_prints_the_run(self, call: Call) -> None:
        [run] = call("workflows", "start", "later", "--wait", "--json").objects

        assert (run["job_id"], run["status"]) == ("later", "success")


class TestTriggering:
    def test_trigger_starts_a_workflow_with_the_payload_as_parameters(
        self, call: Call, plant: Path, trigger: str
    ) -> None:
        code, out, _ = call("trigger", "etl", "--payload", '{"n": 2}', "--priority", "5")

        run = newest(call, "etl")
        assert (code, out.strip()) == (0, run["id"])
        assert (run["input_payload"], run["priority"], run["trigger"]) == ({"n": 2}, 5, trigger)

    @pytest.mark.parametrize(
        ("payload", "said"),
        [
            ("[1]", "error: parameters must be a JSON object, not list"),
            ('{"m": 1}', "error: parameter 'm' does not exist"),
        ],
    )
    def test_trigger_refuses_a_payload_that_is_not_parameters(
        self, call: Call, plant: Path, payload: str, said: str
    ) -> None:
        code, out, err = call("trigger", "etl", "--payload", payload)

        assert (code, out) == (2, "")
        assert err.startswith(said)

    @pytest.mark.usefixtures("operator")
    def test_trigger_of_a_workflow_with_wait_prints_the_result(self, call: Call) -> None:
        assert call("trigger", "later", "--wait").code == 0


@pytest.mark.usefixtures("operator")
class TestRepeating:
    def test_rerun_begins_at_the_failed_steps(self, call: Call, trigger: str) -> None:
        before = newest(call, "etl")["id"]

        [done] = call("workflows", "rerun", "etl@last", "--json").objects

        assert done["rerun_of"] == before
        assert done["run_id"] == newest(call, "etl")["id"] != before
        assert newest(call, "etl")["trigger"] == trigger

    @pytest.mark.parametrize(("option", "version"), [([], 2), (["--same-version"], 1)])
    def test_rerun_uses_the_newest_version_or_the_same_and_show_names_what_it_repeats(
        self, call: Call, plant: Path, option: list[str], version: int
    ) -> None:
        before = newest(call, "etl")["id"]
        asyncio.run(change_etl(f"sqlite:///{plant}/foliot.db"))

        [done] = call("workflows", "rerun", str(before), "extract", *option, "--json").objects
        asyncio.run(wait(f"sqlite:///{plant}/foliot.db", done["run_id"]))

        execution = call("show", done["run_id"], "--json").objects[0]["execution"]
        assert (execution["version"], execution["rerun_of"], execution["rerun_version"]) == (version, before, 1)
        assert re.search(rf"(?m)^repeats +{before}, version 1$", call("show", done["run_id"]).out)

    def test_rerun_begins_at_the_given_steps(self, call: Call) -> None:
        code, out, err = call("workflows", "rerun", "etl@last", "alarm", "never")

        assert (code, len(out.strip()), err) == (0, 26, "")

    @pytest.mark.parametrize(
        ("wrong", "code", "said"),
        [
            (["etl@last", "lod"], 1, "error: step 'lod' does not exist\n  Did you mean \"load\"?"),
            (["release@last"], 2, "error: execution "),
            (["good@last"], 2, "error: run "),
        ],
    )
    def test_rerun_refuses_executions_that_cannot_be_repeated(
        self, call: Call, wrong: list[str], code: int, said: str
    ) -> None:
        ended, out, err = call("workflows", "rerun", *wrong)

        assert (ended, out) == (code, "")
        assert err.startswith(said)

    def test_marking_a_failed_step_starts_a_new_execution(self, call: Call) -> None:
        before = newest(call, "etl")["id"]

        [done] = call("workflows", "mark", "etl@last", "extract", "--json").objects

        assert (done["marked_in"], done["step"]) == (before, "extract")
        assert done["run_id"] == newest(call, "etl")["id"] != before

    def test_marking_a_missing_step_is_refused(self, call: Call) -> None:
        code, _, err = call("workflows", "mark", "etl@last", "extrct")

        assert (code, err) == (1, "error: step 'extrct' does not exist\n  Did you mean \"extract\"?\n")


class TestAnswering:
    @pytest.mark.parametrize(("word", "status"), [("approve", "success"), ("reject", "failed")])
    def test_approve_and_reject_decide_the_step(
        self, call: Call, plant: Path, actor: str, word: str, status: str
    ) -> None:
        execution = newest(call, "release")["id"]

        code, out, err = call("workflows", word, "release@last", "ask", "--by", "Ann")

        asked = newest(call, "release.ask")
        done = "approved" if word == "approve" else "rejected"
        assert (code, out, err) == (0, f"{done} ask of {execution}\n", "")
        assert asked["status"] == status
        assert "Ann" in f"{asked['output_payload']} {asked['error_message']}"
        [page] = call("show", str(execution), "--json").objects
        assert (page["step_actions"]["ask"]["action"], page["step_actions"]["ask"]["actor"]) == (word, actor)
        assert f"{done} by {actor}" in " ".join(call("show", str(execution)).out.split())

    def test_approve_prints_its_answer_as_json(self, call: Call, plant: Path) -> None:
        [done] = call("workflows", "approve", "release@last", "ask", "--json").objects

        assert done == {
            "execution_id": newest(call, "release")["id"],
            "step": "ask",
            "answer": "approved",
            "by": None,
        }

    @pytest.mark.parametrize(
        ("wrong", "code", "said"),
        [
            (["release@last", "aks"], 1, "error: step 'aks' does not exist\n  Did you mean \"ask\"?"),
            (["release@last", "ship"], 2, 'error: step "ship" does not wait for approval'),
            (["release@last", "ask", "--by", " "], 2, "error: the name is empty"),
            (["release@last", "ask", "--by", "a\x1b[2J"], 2, "error: the name is empty, not printable"),
            (["release.ask@last", "ask"], 2, "error: run "),
        ],
    )
    @pytest.mark.parametrize("word", ["approve", "reject"])
    def test_an_invalid_answer_leaves_the_step_waiting(
        self, call: Call, plant: Path, word: str, wrong: list[str], code: int, said: str
    ) -> None:
        ended, out, err = call("workflows", word, *wrong)

        assert (ended, out) == (code, "")
        assert err.startswith(said)
        assert newest(call, "release.ask")["status"] == "scheduled"


def test_a_run_of_a_step_is_refused_as_an_execution(call: Call, plant: Path) -> None:
    execution, asked = newest(call, "release")["id"], newest(call, "release.ask")["id"]

    code, _, err = call("workflows", "approve", "release.ask@last", "ask")

    assert (code, err) == (2, f"error: run {asked} is a step of execution {execution}\n  Name the execution.\n")


class TestPausing:
    def test_a_step_can_be_paused_and_resumed(self, call: Call, plant: Path) -> None:
        assert call("workflows", "pause", "etl", "load") == (0, "paused load of etl\n", "")
        assert call("workflows", "resume", "etl", "load", "--json").objects == [
            {"id": "etl", "step": "load", "done": "resumed"}
        ]
        [shown] = call("workflows", "show", "etl", "--json").objects
        assert [step for step in shown["steps"] if step["is_paused"]] == []

    @pytest.mark.parametrize("word", ["pause", "resume"])
    @pytest.mark.parametrize(
        ("wrong", "said"),
        [(["elt", "load"], 'Did you mean "etl"?'), (["etl", "lod"], 'Did you mean "load"?')],
    )
    def test_pausing_a_missing_step_suggests_the_closest_match(
        self, call: Call, plant: Path, word: str, wrong: list[str], said: str
    ) -> None:
        code, out, err = call("workflows", word, *wrong)

        assert (code, out) == (1, "")
        assert said in err


def test_cancelling_an_execution_ends_its_steps(call: Call, plant: Path) -> None:
    run_id = newest(call, "release")["id"]

    assert call("cancel", "release@last") == (0, f"{run_id} cancellation of its steps requested\n", "")


def test_an_execution_that_has_not_started_is_cancelled_immediately(call: Call, plant: Path) -> None:
    run_id = newest(call, "later")["id"]

    assert call("cancel", "later@last") == (0, f"{run_id} cancelled before it started\n", "")


class TestRuns:
    def test_runs_with_root_lists_only_the_steps_of_an_execution(self, call: Call, plant: Path) -> None:
        root = newest(call, "etl")["id"]

        runs = call("runs", "--root", "etl@last", "--json").objects

        assert [(run["child_key"], run["parent_id"], run["root_id"]) for run in runs] == [
            ("cleanup", root, root),
            ("alarm", root, root),
            ("extract", root, root),
        ]

    def test_runs_names_the_execution_of_a_step(self, call: Call, plant: Path) -> None:
        root = newest(call, "release")["id"]

        [_, line] = call("runs", "--job", "release.ask").out.splitlines()

        assert line.endswith(f"step of {root}")
        assert "due when answered" in line

    def test_runs_with_a_missing_root_is_an_error(self, call: Call, plant: Path) -> None:
        code, out, _ = call("runs", "--root", "01ARZ3NDEKTSV4RRFFQ69G5FAV")

        assert (code, out) == (1, "")
