"""Functions in the process of an application that speak to their chain, and what commands show of classes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot, current_run
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.run.lane import TREES_QUEUE
from foliot.errors import ChainRefused, WrongLoop
from foliot.service.queries.chain_view import ChainDetailView
from tests.interfaces.conftest import Call
from tests.interfaces.serving import ended, outcome, served

BOTH_WAYS = True

Told = list[Any]


@pytest.fixture
def app(url: str) -> Foliot:
    return Foliot(url)


async def run_chain(app: Foliot, function: Callable[..., Any], **more: Mapping[str, Any]) -> ChainDetailView:
    """Run a function as the action of a chain, and return the chain when it is closed."""
    app.job(id="act")(function)
    stages = {"action": {"job": "act", "delay": 0}, **more}
    async with served(app):
        services = await app.open()
        spec = JobSpec(kind="chain", spec={"stages": stages}, options=Options(queue=TREES_QUEUE))
        await services.storage.definitions.put_jobs([(JobId("disk"), spec)])
        run = await outcome(app, "disk")
        return await services.queries.chains.get(run.id)


def decisions(chain: ChainDetailView) -> list[tuple[str, str | None]]:
    return [(step.key, step.decision) for step in chain.steps]


async def test_a_function_in_a_thread_decides(app: Foliot) -> None:
    told: Told = []

    def act(chain: Any, data: Any) -> None:
        calls = current_run().chain
        told.append(chain == {name: calls.status()[name] for name in chain})
        told.append(data)
        told.append(dict(calls.spend(tokens=3, usd=0.5)))
        with pytest.raises(ChainRefused) as refused:
            calls.monitor()
        told.append(refused.value.refusal)
        calls.close("it is ours")
        with pytest.raises(ChainRefused, match=r"refused \(already_decided\)"):
            calls.escalate()

    chain = await run_chain(app, act)

    assert told == [True, None, {"tokens": 3, "usd": 0.5}, "decision_not_allowed"]
    assert (decisions(chain), chain.steps[0].reason) == ([("action.1", "close")], "it is ours")
    assert (chain.tokens, chain.usd, chain.outcome) == (3, 0.5, "resolved")


async def test_a_coroutine_awaits_its_chain_and_gets_a_hint_otherwise(app: Foliot) -> None:
    told: Told = []

    async def act(**about: Any) -> None:
        with pytest.raises(WrongLoop) as refused:
            current_run().chain.status()
        told.append(refused.value.hint)
        chain = current_run().async_chain
        told.append((await chain.status())["stage"])
        told.append(dict(await chain.spend(usd=0.25)))
        told.append((await chain.spawn("more", delay=1))["is_new"])
        told.append((await chain.spawn("more", delay=1))["is_new"])
        for ask in (chain.monitor, chain.retry, chain.escalate):
            try:
                await ask()
            except ChainRefused as error:
                told.append(error.refusal)

    chain = await run_chain(app, act, more={"kind": "shell", "spec": {"command": "exit 15"}})

    assert told == [
        "In a coroutine function write: await current_run().async_chain.close()",
        "action", {"tokens": 0, "usd": 0.25}, True, False, "decision_not_allowed", "already_decided",
    ]  # fmt: skip
    assert decisions(chain)[0] == ("action.1", "retry")


async def test_a_function_may_return_its_report(app: Foliot) -> None:
    chain = await run_chain(app, lambda **about: {"decision": "close", "reason": "returned", "tokens": 9})

    assert (decisions(chain), chain.steps[0].reason, chain.tokens) == ([("action.1", "close")], "returned", 9)


async def test_a_function_starts_a_follow_up_and_a_coroutine_too(app: Foliot) -> None:
    got: Told = []
    answers: Told = []

    @app.job()
    def later(sender: str) -> None:
        got.append(sender)

    @app.job()
    def function() -> None:
        answers.append(current_run().spawn("later", delay="1s", payload={"sender": "function"}))

    @app.job()
    async def coroutine() -> None:
        answers.append(await current_run().async_chain.spawn("later", delay=1, payload={"sender": "coroutine"}))

    async with served(app):
        asking = [await outcome(app, job) for job in ("function", "coroutine")]
        assert [run.status for run in asking] == ["success", "success"]
        for run, answer in zip(asking, answers, strict=True):
            follow_up = await ended(app, answer["run_id"])
            part = (await (await app.open()).queries.runs.page(follow_up.id)).chain
            assert (follow_up.status, part and part.started_by) == ("success", run.id)

    assert sorted(got) == ["coroutine", "function"]


async def test_outside_of_a_run_there_is_no_chain() -> None:
    with pytest.raises(LookupError):
        current_run()


def test_a_plan_shows_a_class_and_its_schedule(call: Call) -> None:
    Path("foliot.toml").write_text(
        '[[chains]]\nid = "disk"\nevery = "5m"\nlifetime = "2h"\nbreaker = { cooldown = "30m" }\n'
        '[chains.scout]\ncommand = "look"\nenv = { API_TOKEN = "hush" }\n'
        '[chains.action]\ncommand = "act"\ndelay = "90s"\n[chains.stages.more]\njob = "report"\n'
        '[[jobs]]\nid = "report"\ncommand = "true"\n'
    )

    planned = call("plan")
    assert (planned.code in (0, 2), "disk" in planned.out, "hush" not in planned.out) == (True, True, True)
    assert call("reload").code == 0
    [listed] = [job for job in call("jobs", "--json").objects if job["id"] == "disk"]
    [schedule] = call("schedules", "--json").objects
    page = call("show", "disk").out

    assert listed["kind"] == "chain"
    assert (schedule["job_id"], schedule["overlap_policy"]) == ("disk", "allow")
    lines = [line.split(maxsplit=1) for line in page.splitlines()]
    assert ["scout", "shell: look"] in lines
    assert ["action", "shell: act, 90s after its cause"] in lines
    assert ["more", "job report"] in lines
    assert ["limits", "lifetime=2h"] in lines
    assert ["breaker", "cooldown=30m"] in lines
    assert "hush" not in page + call("show", "disk", "--json").out + call("jobs", "--json").out


def test_without_chains_the_commands_say_so(call: Call) -> None:
    call("migrate")

    assert "declare one with [[chains]]" in call("chains").err
    assert "no chains" in call("chains", "list").err
    assert (call("chains", "show", "x").code, call("chains", "stop", "x").code) == (1, 1)
    assert (call("chains", "reset", "x", "--reason", "y").code, call("chains", "resume", "x").code) == (1, 1)
