"""Fanouts on the command line: lists, the page of a fanout, its items, their output, and running failed items again."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from signal import SIGINT
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from tests.interfaces.conftest import Call, copy_files, working
from tests.interfaces.serving import outcome, started
from tests.interfaces.terminal import Terminal
from tests.interfaces.test_show import fields
from tests.interfaces.test_show_parts import rows, run_of

BOTH_WAYS = True

COMMAND = 'echo "<$FANOUT_ITEM>"; case "$FANOUT_ITEM" in bad*) exit 3;; esac'
ITEMS = ["a b", "bad one", "$(c)", "-d", "bad two"]
REDUCER = {"kind": "shell", "spec": {"command": "echo reduced"}, "run_on": "always"}


def a_fanout(**fields: Any) -> JobSpec:
    spec = {"command": COMMAND, "items": ITEMS, "concurrency": 2, **fields}
    return JobSpec(kind="fanout", spec=spec, options=Options(queue=TREES_QUEUE), source="app")


JOBS = {
    JobId("each"): a_fanout(reducer=REDUCER),
    JobId("half"): a_fanout(partial_tolerance=0.5),
    JobId("fine"): a_fanout(items=["a", {"b": 1}]),
    JobId("stuck"): a_fanout(items=[f"n{n}" for n in range(150)], child_options={"queue": "nowhere"}),
}


async def mill_jobs(url: str) -> None:
    app = Foliot(url)
    app.shell("alone", "true")
    async with app:
        await (await app.open()).jobs.put(JOBS)
        async with started(app):
            for job in ("each", "half", "fine"):
                await outcome(app, job)
            stuck = await app.enqueue("stuck")
            while not await app.runs.page(job="stuck.item"):
                await asyncio.sleep(0.01)
            assert (await app.runs.get(stuck)).status == "running"
            await outcome(app, "alone")


@pytest.fixture(scope="session")
def milled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("milled")
    asyncio.run(mill_jobs(f"sqlite:///{directory}/foliot.db"))
    return directory


@pytest.fixture
def mill(milled: Path, elsewhere: Path) -> Path:
    """A database in which fanouts have run; `stuck` waits for a worker of its queue."""
    copy_files(milled, elsewhere)
    return elsewhere


@pytest.fixture
def miller(mill: Path) -> Iterator[None]:
    with working(mill):
        yield


# -- lists


def test_runs_lists_children_only_if_asked(call: Call, mill: Path) -> None:
    listed = call("runs", "--json").objects
    everything = call("runs", "--all", "-n", "1000", "--json").objects

    assert [(run["job_id"], run["kind"], run["role"]) for run in listed] == [
        ("alone", "job", None),
        ("stuck", "fanout", "parent"),
        ("fine", "fanout", "parent"),
        ("half", "fanout", "parent"),
        ("each", "fanout", "parent"),
    ]
    assert len(everything) > 100
    assert call("runs", "--failed", "--json").objects == [listed[-1]]


@pytest.mark.proves("R0-41", "R0-42")
def test_children_have_their_item_and_role(call: Call, mill: Path) -> None:
    children = call("runs", "--parent", "each@last", "--json").objects
    [structured, *_] = call("runs", "--parent", "fine@last", "--json").objects

    shown = {(run["kind"], run["role"], run["item_index"], run["item"]) for run in children}
    assert shown == {("reducer", "reducer", None, None), *(("item", "child", n, item) for n, item in enumerate(ITEMS))}
    assert structured["item"] == '{"b":1}'
    assert [run["job_id"] for run in call("runs", "--kind", "reducer", "--json").objects] == ["each.reducer"]


def test_a_list_names_the_fanout_of_an_item(call: Call, mill: Path) -> None:
    out = call("runs", "--job", "each.item", "-n", "1").out

    assert out.rstrip().endswith(f"item 4 of {run_of(call, 'each')}")


def test_root_and_parent_are_mutually_exclusive(call: Call, mill: Path) -> None:
    code, _, err = call("runs", "--root", "each@last", "--parent", "each@last")

    assert (code, "mutually exclusive" in err) == (2, True)


def test_top_shows_the_fanout_without_its_items(call: Call, mill: Path) -> None:
    [page] = call("top", "--json").objects

    assert [run["job_id"] for run in page["running"]] == ["stuck"]
    assert page["queued"] == page["executions"] == []
    assert page["depth"] == {"running": 1, "queued": 0, "scheduled": 0}
    assert [run["job_id"] for run in page["failures"]] == ["each"]


def test_status_names_the_fanout_that_failed(call: Call, mill: Path) -> None:
    [page] = call("status", "--json").objects

    assert [job["job_id"] for job in page["failing"]] == ["each"]


def test_a_fanout_is_not_an_execution(call: Call, mill: Path) -> None:
    assert call("workflows", "active", "--json").objects == []
    assert "is not an execution" in call("workflows", "rerun", "each@last", "a").err
    assert call("verify").code == 0


# -- the page


def test_explain_suggests_to_repeat_the_failed_items(call: Call, mill: Path) -> None:
    assert "no, it has ended; repeat its failed items with: foliot retry" in call("explain", "each@last").out
    assert "run it again with: foliot retry" in call("explain", "fine@last").out


def test_show_folds_the_items_of_a_fanout(call: Call, mill: Path) -> None:
    code, out, _ = call("show", "each@last")

    said, reducer = fields(out), run_of(call, "each.reducer")
    assert code == 0
    assert said["why"] == ("more items failed than its partial_tolerance allows; 5 items: 3 succeeded, 2 failed")
    assert said["items"] == "5, concurrency 2"
    assert said["ended"] == "5 (3 succeeded, 2 failed)"
    assert said["throughput"].endswith("items per second")
    assert said["reducer"] == f"success, run {reducer}"
    assert [row[:3] + row[5:] for row in rows(out, "Failed items")] == [
        ["1", "bad one", "failed (exit_code)", "1", "exit code 3"],
        ["4", "bad two", "failed (exit_code)", "1", "exit code 3"],
    ]
    assert len(rows(out, "Slowest items")) == 5
    assert not {"attempt", "output", "eta", "open"} & said.keys()


def test_show_of_a_running_fanout_says_what_is_open(call: Call, mill: Path) -> None:
    said = fields(call("show", "stuck@last").out)

    assert said["why"] == "0 of 150 items ended, 0 running (concurrency 2)"
    assert said["open"] == "0 running, 102 waiting, 48 pending"


def test_show_as_json_has_the_numbers(call: Call, mill: Path) -> None:
    [page] = call("show", "half@last", "--json").objects

    fanout = page["fanout"]
    assert (page["status"], page["execution"], page["part_of"]) == ("partial", None, None)
    assert (fanout["items"], fanout["succeeded"], fanout["failed"], fanout["pending"]) == (5, 3, 2, 0)
    assert [item["item"] for item in fanout["first_failed"]] == ["bad one", "bad two"]
    assert "items" not in page


def test_show_of_an_item_names_its_fanout(call: Call, mill: Path) -> None:
    [item] = call("runs", "--job", "each.item", "-n", "1", "--json").objects

    said = fields(call("show", item["id"]).out)

    assert said["item"] == f"4 of fanout {run_of(call, 'each')}: bad two"
    assert "step" not in said


def test_an_item_that_waits_for_its_fanout_says_so(call: Call, mill: Path) -> None:
    [item] = call("runs", "--job", "stuck.item", "-n", "1", "--json").objects

    assert fields(call("show", item["id"]).out)["why"].startswith('no worker of queue "nowhere" is alive')
    assert f"by fanout {run_of(call, 'stuck')}" in call("explain", item["id"]).out


def test_explain_has_a_stage_for_the_items(call: Call, mill: Path) -> None:
    [path] = call("explain", "stuck@last", "--json").objects

    assert path["binds"] == "items"
    assert path["change"]["text"] == "when its items end"
    assert "5 items: 3 succeeded, 2 failed" in call("explain", "each@last").out


# -- items


def listed(call: Call, *arguments: str) -> list[tuple[int, str, str]]:
    [page] = call("show", *arguments, "--json").objects
    return [(item["index"], item["item"], item["status"]) for item in page["items"]]


def test_show_lists_failed_items(call: Call, mill: Path) -> None:
    assert listed(call, "each@last", "--failed") == [(1, "bad one", "failed"), (4, "bad two", "failed")]
    assert listed(call, "each@last", "--failed", "--after", "1") == [(4, "bad two", "failed")]


def test_show_lists_items_that_match(call: Call, mill: Path) -> None:
    assert listed(call, "each@last", "--items", "*b*") == [
        (0, "a b", "success"),
        (1, "bad one", "failed"),
        (4, "bad two", "failed"),
    ]
    assert listed(call, "each@last", "--items", "*b*", "--failed", "-n", "1") == [(1, "bad one", "failed")]
    assert listed(call, "each@last", "--items", "x") == []


def test_show_pages_items_and_shows_those_without_a_run_as_pending(call: Call, mill: Path) -> None:
    [page] = call("show", "stuck@last", "--after", "100", "-n", "3", "--json").objects

    assert [(item["index"], item["status"]) for item in page["items"]] == [
        (101, "queued"),
        (102, "pending"),
        (103, "pending"),
    ]
    assert page["next_after"] == 103
    assert "--after 103" in call("show", "stuck@last", "--after", "100", "-n", "3").err


def test_items_of_other_runs_are_refused(call: Call, mill: Path) -> None:
    for name, said in (("alone@last", "is not a fanout"), ("each", "is not a run")):
        code, _, err = call("show", name, "--failed")
        assert (code, said in err) == (2, True)


@pytest.mark.proves("R0-55")
def test_items_that_were_not_started_are_cancelled_with_the_fanout(call: Call, mill: Path, miller: None) -> None:
    answer = call("cancel", "stuck@last")
    call_until(call, "stuck@last", "cancelled")

    assert answer.out.rstrip().endswith("cancellation of its items requested")
    assert fields(call("show", "stuck@last").out)["ended"] == "150 (150 cancelled)"
    assert {status for *_, status in listed(call, "stuck@last", "--items", "*", "-n", "200")} == {"cancelled"}
    assert len(listed(call, "stuck@last", "--failed", "-n", "200")) == 150


def call_until(call: Call, run: str, status: str) -> None:
    while call("show", run, "--json").objects[0]["status"] != status:
        pass


# -- output


def test_logs_prints_the_output_of_an_item(call: Call, mill: Path) -> None:
    assert call("logs", "each@last", "--item", "2").out == "<$(c)>\n"
    assert call("logs", "each@last", "--item", "-d").out == "<-d>\n"
    assert call("logs", "each@last", "--item", "bad one", "--stdout").out == "<bad one>\n"


def test_logs_of_a_fanout_prints_those_of_the_reducer(call: Call, mill: Path) -> None:
    code, out, err = call("logs", "each@last")

    assert (code, out) == (0, "reduced\n")
    assert f"foliot logs {run_of(call, 'each')} --item INDEX" in err
    assert call("logs", "half@last").out == call("logs", "half@last", "--stdout").out == ""


def test_logs_refuses_items_without_output(call: Call, mill: Path) -> None:
    for run, item, said, expected in (
        ("each@last", "nope", "has no item 'nope'", 2),
        ("each@last", "5", "has no item '5'", 2),
        ("stuck@last", "149", "has no run: pending", 1),
        ("alone@last", "0", "is not a fanout", 2),
    ):
        code, _, err = call("logs", run, "--item", item)
        assert (code, said in err) == (expected, True), err


# -- trigger


def test_trigger_follow_prints_the_summary(call: Call, mill: Path, miller: None) -> None:
    code, out, err = call("trigger", "half", "--follow")

    assert (code, out) == (0, "")
    *_, summary, first, second, hint, status = err.splitlines()
    assert summary == "5 items: 3 succeeded, 2 failed"
    assert first == "  1 bad one: failed (exit_code), exit code 3"
    assert second == "  4 bad two: failed (exit_code), exit code 3"
    assert "foliot retry" in hint
    assert status == "partial"


def test_trigger_follow_of_a_failed_fanout_exits_with_1(call: Call, mill: Path, miller: None) -> None:
    assert call("trigger", "each", "--follow").code == 1


def test_trigger_follow_draws_a_bar_on_a_terminal(mill: Path, miller: None, elsewhere: Path) -> None:
    with Terminal("trigger", "stuck", "--follow", directory=elsewhere) as terminal:
        terminal.read("[----------] 0% 0 of 150 items ended, 0 running")
        terminal.send(SIGINT)


# -- running failed items again


def test_retry_failed_runs_the_failed_items_in_a_new_fanout(call: Call, mill: Path, miller: None) -> None:
    before = run_of(call, "each")

    [made] = call("retry", "each@last", "--failed", "--json").objects
    call_until(call, made["run_id"], "failed")

    page = call("show", made["run_id"])
    assert made["retry_of"] == before
    assert fields(page.out)["repeats"] == f"the failed items of {before}"
    assert listed(call, made["run_id"], "--items", "*") == [(0, "bad one", "failed"), (1, "bad two", "failed")]


def test_retry_failed_of_a_cancelled_fanout_includes_items_that_were_not_started(
    call: Call, mill: Path, miller: None
) -> None:
    call("cancel", "stuck@last")
    call_until(call, "stuck@last", "cancelled")

    [made] = call("retry", "stuck@last", "--failed", "--json").objects
    call_until(call, made["run_id"], "running")

    assert [item for _, item, _ in listed(call, made["run_id"], "--items", "*", "-n", "200")] == [
        f"n{n}" for n in range(150)
    ]


def test_retry_failed_refuses_what_it_cannot_repeat(call: Call, mill: Path) -> None:
    for run, said in (
        ("alone@last", "is not a fanout"),
        ("stuck@last", "has not ended: it is running"),
        ("fine@last", "has no failed items"),
    ):
        code, _, err = call("retry", run, "--failed")
        assert (code, said in err) == (1, True), err


def test_items_are_repeated_only_by_their_fanout(call: Call, mill: Path) -> None:
    [item] = call("runs", "--job", "each.item", "-n", "1", "--json").objects

    for command in ("retry", "mark"):
        code, _, err = call(command, item["id"])
        assert (code, f"is an item of fanout {item['parent_id']}" in err) == (1, True)
        assert f"foliot retry {item['parent_id']} --failed" in err


def test_bytes_that_are_not_text_are_shown_in_base64(call: Call, mill: Path, miller: None) -> None:
    job = a_fanout(items=[{"item_base64": "/w=="}])
    asyncio.run(_put(f"sqlite:///{mill}/foliot.db", job))

    assert call("trigger", "raw", "--follow").code == 0

    [page] = call("show", "raw@last", "--items", "*", "--json").objects
    assert [(item["item"], item["item_base64"]) for item in page["items"]] == [(None, "/w==")]
    [child] = call("runs", "--job", "raw.item", "--json").objects
    assert (child["item"], child["item_base64"]) == (None, "/w==")
    assert "base64:/w==" in call("show", child["id"]).out
    assert json.loads(call("show", child["id"], "--json").out)["item_base64"] == "/w=="


async def _put(url: str, job: JobSpec) -> None:
    async with Foliot(url) as app:
        await (await app.open()).jobs.put({JobId("raw"): job})
