"""Chains of real commands on a real server: what steps say, what is refused, and what operators see."""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import pytest

from foliot import Foliot
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.alert import Alert
from foliot.domain.events import EventKind
from foliot.domain.instant import LATEST
from foliot.ports.storage import Storage
from foliot.service.queries.documents import as_json
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import check_invariants
from tests.adapters.storage.postgres.fresh import fresh_database
from tests.scenarios.server import Place, until

CHAIN: Final = f"{sys.executable} -m foliot chain"
Document = dict[str, Any]
Answer = TypeVar("Answer")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place with a database of each kind."""
    place = Place(tmp_path)
    if request.param == "sqlite":
        yield place
        return
    with fresh_database() as (server, name):
        place.file.write_text(f'[storage]\nurl = "{server.dsn(name)}"\n')
        yield place


def add(place: Place, class_id: str, head: str = "", **stages: str) -> None:
    """Add a class to the file. Each stage is a shell script; lines before `---` are options of the stage."""
    text = place.file.read_text() if place.file.exists() else ""
    text += f'[[chains]]\nid = "{class_id}"\n{head}\n[[chains.intervals]]\nevery = "1s"\n'
    for stage, script in stages.items():
        options, _, command = script.rpartition("---")
        file = place.directory / f"{class_id}.{stage}.sh"
        file.write_text(re.sub(r"(?<!\w)CHAIN\b", CHAIN, command))
        table = stage if stage in ("scout", "action", "verify", "monitor", "escalate") else f"stages.{stage}"
        text += f'[chains.{table}]\nargv = ["sh", "{file.name}"]\n'
        text += options if "delay" in options else f'delay = "1s"\nretry_delays = ["1s"]\n{options}'
        text += "\n"
    place.file.write_text(text)


def asked(place: Place, ask: Callable[[Foliot], Awaitable[Answer]]) -> Answer:
    """Ask the database from this process: starting a command takes longer."""
    given = re.search(r'\[storage\]\nurl = "(.*)"', place.file.read_text())

    async def run() -> Answer:
        async with Foliot(given[1] if given else f"sqlite:///{place.directory}/foliot.db") as app:
            return await ask(app)

    return asyncio.run(run())


def trigger(place: Place, class_id: str) -> str:
    return asked(place, lambda app: app.enqueue(class_id))


def closed(place: Place, run_id: str) -> Document:
    """Wait until a chain is closed, and return it."""

    async def read_closed(app: Foliot) -> Document | None:
        if not (await app.runs.get(run_id)).status.is_terminal:
            return None
        return as_json(await (await app.open()).queries.chains.get(run_id))

    return until(lambda: asked(place, read_closed), lambda: place.foliot("chains", "show", run_id))


def ended(place: Place, run_id: str) -> Document:
    """Wait until a run has ended, and return its page."""

    def ask() -> Document | None:
        page = json.loads(place.foliot("show", run_id, "--json"))
        return page if page["finished_at"] else None

    return until(ask, lambda: place.foliot("show", run_id))


def decisions(chain: Document) -> list[tuple[str, str | None]]:
    return [(step["key"], step["decision"]) for step in chain["steps"]]


def read(place: Place, name: str) -> str:
    return (place.directory / name).read_text()


def check_storage(place: Place) -> list[Alert]:
    """Check the invariants of the stopped database, and return its alerts."""

    async def check() -> list[Alert]:
        clock = VirtualClock()
        storage = cast(Storage, await SqliteStorage.open(place.directory / "foliot.db", clock=clock))
        try:
            assert await check_invariants(storage, now=LATEST) == []
            events = await storage.queries.events(after=0, limit=10_000)
        finally:
            await storage.close()
        raised = [event for event in events if event.kind is EventKind.ALERT_RAISED]
        return [Alert.of_item(item) for event in raised for item in event.items]

    return asyncio.run(check())


# -- how a step speaks


@pytest.mark.proves("R3-17", "R3-41", "R3-53")
def test_a_shell_chain_from_its_scout_to_its_end(either: Place) -> None:
    place = either
    add(
        place,
        "auction",
        scout="CHAIN spawn action --in 1s --slot lot-42 --deadline 2030-01-01T00:00:00Z --payload '{\"lot\": 42}'",
        action='env = { WHERE = "{{chainId}} {{depth}} {{attempt}} {{ expires_at }}" }\n---'
        "CHAIN status --json > status.json\n"
        "CHAIN spend --tokens 7 --usd 0.5\n"
        "env | grep -e ^FOLIOT_CHAIN_ -e ^WHERE= | sort > variables\n"
        'printf %s "$FOLIOT_PAYLOAD" > payload.json',
        verify="CHAIN monitor still running; exit 30",
        monitor="CHAIN close the lot is ours; exit 40",
    )

    with place.serve():
        run_id = trigger(place, "auction")
        chain = closed(place, run_id)

    assert (chain["id"].startswith("auction-"), chain["id"].endswith("-lot-42")) == (True, True)
    assert (chain["slot"], chain["outcome"], chain["deadline"]) == ("lot-42", "resolved", "2030-01-01T00:00:00Z")
    assert decisions(chain) == [
        ("scout.1", "trigger"), ("action.1", "done"), ("verify.1", "monitor"), ("monitor.1", "close"),
    ]  # fmt: skip
    assert [step["reason"] for step in chain["steps"][2:]] == ["still running", "the lot is ours"]
    assert [move["state"] for move in chain["state_changes"]] == ["armed", "active", "closed"]
    assert (chain["tokens"], chain["usd"]) == (7, 0.5)
    status = json.loads(read(place, "status.json"))
    about = {"chain_id": chain["id"], "chain_class": "auction", "stage": "action", "depth": 1, "attempt": 1}
    assert status.items() >= {**about, "state": "active", "step_count": 1, "steps_left": 7}.items()
    variables = dict(line.split("=", 1) for line in read(place, "variables").splitlines())
    assert variables == {
        "FOLIOT_CHAIN_ID": chain["id"],
        "FOLIOT_CHAIN_CLASS": "auction",
        "FOLIOT_CHAIN_STAGE": "action",
        "FOLIOT_CHAIN_DEPTH": "1",
        "FOLIOT_CHAIN_ATTEMPT": "1",
        "FOLIOT_CHAIN_EXPIRES_AT": status["expires_at"],
        "FOLIOT_CHAIN_DEADLINE": status["deadline"],
        "WHERE": f"{chain['id']} 1 1 {status['expires_at']}",
    }
    payload = json.loads(read(place, "payload.json"))
    assert payload["data"] == {"lot": 42}
    assert payload["chain"].items() >= {**about, "max_depth": 4, "max_children": 8}.items()


CASES: Final = {
    "verb-first": ('CHAIN close ours; echo \'{"decision": "escalate"}\'; exit 30', "resolved", ["close"]),
    "json-second": ('echo \'{"decision": "escalate", "reason": "no"}\'; exit 0', "escalated", ["escalate"]),
    "code-third": ("echo '{\"tokens\": 5}'; exit 40", "escalated", ["escalate"]),
    "no-such-word": ('echo \'{"decision": "gud"}\'; exit 0', "escalated", [None]),
    "not-of-this-stage": ('echo \'{"decision": "trigger"}\'; exit 0', "escalated", [None]),
    "decides-once": (
        "CHAIN escalate first; CHAIN close second 2> second; echo $? >> second",
        "escalated",
        ["escalate"],
    ),
    "retries": ('if mkdir "$FOLIOT_CHAIN_ID"; then CHAIN retry again; fi', "resolved", ["retry", "good"]),
    "other-code": ("exit 7", "escalated", [None]),
    "transient": ('if mkdir "$FOLIOT_CHAIN_ID"; then exit 75; fi', "resolved", [None, "good"]),
}


@pytest.mark.proves("R3-07", "R3-51")
def test_a_request_counts_more_than_json_and_json_more_than_the_exit_code(place: Place) -> None:
    for name, (script, _, _) in CASES.items():
        add(place, name, action="exit 0", verify=script)

    with place.serve():
        runs = {name: trigger(place, name) for name in CASES}
        chains = {name: closed(place, run_id) for name, run_id in runs.items()}

    found = {name: (chain["outcome"], _of_checks(chain)) for name, chain in chains.items()}
    assert found == {name: (outcome, wanted) for name, (_, outcome, wanted) in CASES.items()}
    assert "refused (already_decided): verify.1 has decided escalate already" in read(place, "second")
    assert read(place, "second").splitlines()[-1] == "1"
    assert chains["code-third"]["tokens"] == 5
    check_storage(place)


def _of_checks(chain: Document) -> list[str | None]:
    return [decision for key, decision in decisions(chain) if key.startswith("verify")]


REFUSALS: Final = {
    "stage_not_found": "spawn nowhere",
    "delay_too_short": "spawn verify --delay 0s",
    "expired": "spawn verify --delay 3h",
    "decision_not_allowed": "monitor",
}


def test_refused_requests_name_their_code_and_end_with_1(place: Place) -> None:
    tries = "\n".join(f"CHAIN {words} 2> {code}.err; echo $? > {code}.code" for code, words in REFUSALS.items())
    add(place, "disk", action=f"{tries}\nCHAIN spawn nowhere --json 2> json.err\nexit 0", verify="exit 0")

    with place.serve():
        chain = closed(place, trigger(place, "disk"))
        [shown_class] = place.objects("chains")

    assert {
        code: (f"refused ({code}):" in read(place, f"{code}.err"), read(place, f"{code}.code")) for code in REFUSALS
    } == dict.fromkeys(REFUSALS, (True, "1\n"))
    refusal = json.loads(read(place, "json.err"))
    assert (refusal["code"], refusal["refusal"]) == ("chain_refused", "stage_not_found")
    assert [refused["code"] for refused in chain["refused_requests"]] == [*REFUSALS, "stage_not_found"]
    assert (chain["outcome"], shown_class["breaker"]) == ("resolved", "closed")
    assert check_storage(place)


def test_outside_of_a_job_and_outside_of_a_chain_the_error_is_clear(place: Place) -> None:
    for words in (("status",), ("close",), ("spawn", "x"), ("spend", "--tokens", "1")):
        error = place.foliot("chain", *words, code=1)
        assert "this process is not part of a job: FOLIOT_CHANNEL is not set" in error
        assert "Call this inside a job" in error
    script = "\n".join(f"{CHAIN} {words} 2>> said; echo $? >> said" for words in ("status", "close", "spend --usd 1"))
    place.file.write_text(f'[[jobs]]\nid = "plain"\ncommand = """\n{script}"""\n')

    with place.serve():
        place.foliot("trigger", "plain", "--wait")

    assert read(place, "said").count("refused (no_chain): this run belongs to no chain") == 3
    assert read(place, "said").count("Other runs can spawn a job as a follow-up") == 3


FORGER: Final = """
import json, os
from foliot.channel.client import from_environment

def ask(**request):
    try:
        return client.ask("chain", request=request)["answer"]
    except Exception as error:
        return {"code": type(error).__name__, "error": str(error)}

client = from_environment(os.environ)
said = [
    ask(type="spawn", name="verify", dely=2000),
    ask(type="spawn", name="verify", depth=1, chain_class="disk", wait=1),
    ask(type="spawn", name="verify", depth=0),
    ask(type="spawn", name="verify", chainId="other-20260101-main"),
    ask(type="decide", decision="close", maxDepth=99),
    ask(type="spawn", name="verify", claims={"expiresAt": "2099-01-01T00:00:00Z"}),
    ask(type="spend", tokens=-5),
    ask(type="spend", tokens="many"),
    ask(type="destroy"),
]
json.dump([one["code"] for one in said], open("answers.json", "w"))
"""


@pytest.mark.proves("R3-24", "R3-29", "R3-32")
def test_forged_claims_are_refused_and_open_the_breaker_once(place: Place) -> None:
    (place.directory / "forger.py").write_text(FORGER)
    add(place, "disk", action=f"{sys.executable} forger.py", verify="exit 0")

    with place.serve():
        chain = closed(place, trigger(place, "disk"))
        [shown_class] = place.objects("chains")
        skipped = ended(place, trigger(place, "disk"))
        status = place.foliot("status", code=1)

    assert json.loads(read(place, "answers.json")) == [
        "InvalidInput", "InvalidInput",
        "forged", "forged", "forged", "forged", "invalid_spending", "InvalidInput", "InvalidInput",
    ]  # fmt: skip
    assert (chain["outcome"], [step["key"] for step in chain["steps"]]) == ("failed", ["action.1"])
    assert chain["cause"].startswith("forged: the request claims 'depth', which the scheduler alone decides")
    assert shown_class["breaker"] == "open"
    assert (skipped["status"], skipped["reason"]) == ("skipped", "chain_refused")
    assert "1 breaker of chains open: disk until " in status
    assert [str(alert.kind) for alert in check_storage(place)].count("breaker_opened") == 1


GREEDY: Final = "for n in 1 2 3 4 5 6; do CHAIN spawn more --delay 1s --dedupe-key $n; done 2> greedy; true"


@pytest.mark.proves("R3-29")
def test_a_step_that_asks_for_too_many_opens_the_breaker(place: Place) -> None:
    add(place, "disk", action=GREEDY, more="exit 0")

    with place.serve():
        chain = closed(place, trigger(place, "disk"))

    assert (chain["outcome"], chain["step_count"]) == ("failed", 4)
    assert "refused (spawn_rate)" in read(place, "greedy")
    assert "refused (chain_closed)" in read(place, "greedy")
    assert {step["status"] for step in chain["steps"][1:]} == {"cancelled"}
    check_storage(place)


def test_a_used_budget_escalates(place: Place) -> None:
    result = json.dumps({"result": "fixed", "total_cost_usd": 0.75, "usage": {"input_tokens": 3, "output_tokens": 4}})
    add(place, "fix", "usd = 0.5", action=f"echo '{result}'", verify="exit 0", escalate="echo help > help")

    with place.serve():
        chain = closed(place, trigger(place, "fix"))

    assert (chain["outcome"], chain["tokens"], chain["usd"]) == ("escalated", 7, 0.75)
    assert decisions(chain) == [("action.1", "done"), ("escalate.1", "done")]
    assert [refused["code"] for refused in chain["refused_requests"]] == ["budget"]
    assert read(place, "help") == "help\n"
    assert [str(alert.kind) for alert in check_storage(place)] == ["chain_armed", "budget_used", "chain_escalated"]


def test_an_agent_gets_the_metadata_in_its_prompt_and_decides(place: Place) -> None:
    said = json.dumps({"result": 'done\n{"decision": "close"}', "total_cost_usd": 0.1})
    agent = f"import sys; open('prompt', 'w').write(sys.argv[-1]); print({said!r})"
    (place.directory / "agent.py").write_text(agent)
    place.file.write_text(
        f'[[chains]]\nid = "fix"\nusd = 1.0\n[chains.action]\nkind = "agent"\ndelay = "1s"\n'
        f'prompt = "Attempt {{{{attempt}}}} of {{{{chainId}}}}, {{{{ stage }}}}"\n'
        f'cli = ["{sys.executable}", "agent.py"]\n[chains.verify]\ncommand = "exit 0"\n'
    )

    with place.serve():
        chain = closed(place, trigger(place, "fix"))

    assert read(place, "prompt") == f"Attempt 1 of {chain['id']}, action"
    assert (chain["outcome"], chain["usd"], decisions(chain)) == ("resolved", 0.1, [("action.1", "close")])


def test_a_stage_may_be_a_job_a_workflow_or_a_fanout(place: Place) -> None:
    place.file.write_text(
        """
[[jobs]]
id = "deploy"
command = 'printf %s "$FOLIOT_PAYLOAD" > "$FOLIOT_CHAIN_STAGE"; test "$FOLIOT_CHAIN_STAGE" = action || exit 20'
[[workflows]]
id = "flow"
params = { day = "monday", lot = 0 }
[[workflows.steps]]
name = "one"
command = 'echo "$DAY $LOT" > one'
env = { DAY = "{{ params.day }}", LOT = "{{ params.lot }}" }
[[workflows.steps]]
name = "two"
command = "touch two"
after = "one"
[[chains]]
id = "by-job"
[chains.action]
job = "deploy"
delay = "1s"
[chains.verify]
job = "deploy"
delay = "1s"
[chains.monitor]
command = "exit 0"
[[chains.intervals]]
every = "1s"
[[chains]]
id = "by-workflow"
payload = { data = { lot = 42, other = 7 } }
[chains.action]
job = "flow"
delay = "1s"
[chains.verify]
command = "test -e two"
delay = "1s"
[[chains]]
id = "by-fanout"
[chains.action]
kind = "fanout"
command = 'touch "item-$FANOUT_ITEM"'
items = ["a", "b"]
delay = "1s"
[chains.verify]
command = "test -e item-a && test -e item-b"
delay = "1s"
"""
    )

    with place.serve():
        names = ("by-job", "by-workflow", "by-fanout")
        runs = {name: trigger(place, name) for name in names}
        chains = {name: closed(place, run_id) for name, run_id in runs.items()}

    assert {name: (chain["outcome"], decisions(chain)) for name, chain in chains.items()} == {
        "by-job": ("resolved", [("action.1", "done"), ("verify.1", "monitor"), ("monitor.1", "good")]),
        "by-workflow": ("resolved", [("action.1", "done"), ("verify.1", "good")]),
        "by-fanout": ("resolved", [("action.1", "done"), ("verify.1", "good")]),
    }
    assert json.loads(read(place, "action"))["chain"]["chain_id"] == chains["by-job"]["id"]
    assert read(place, "one") == "monday 42\n"
    check_storage(place)


# -- what operators do


@pytest.mark.proves("R3-18", "R3-33")
def test_operators_list_show_stop_and_resume_chains(either: Place) -> None:
    place = either
    add(place, "disk", scout="exit 10", action='delay = "10m"\n---exit 0', verify="exit 0")

    with place.serve():
        first = trigger(place, "disk")
        until(lambda: place.objects("chains", "list"), lambda: place.foliot("chains"))
        [listed] = place.objects("chains", "list", "--open", "--class", "disk")
        assert (listed["state"], listed["run_id"], listed["step_count"]) == ("armed", first, 1)
        assert listed["id"] in place.foliot("chains")
        page = place.foliot("chains", "show", listed["id"])
        assert ["action.1", "1", "1", "scheduled"] in [line.split()[:4] for line in page.splitlines()]
        assert "foliot chains show" in place.foliot("show", first)
        assert "action.1 begins at " in place.foliot("explain", first)

        again = ended(place, trigger(place, "disk"))
        assert (again["status"], again["reason"]) == ("skipped", "chain_refused")
        unarmed = place.foliot("chains", "show", again["id"], code=1)
        assert f"run {again['id']} armed no chain: chain {listed['id']} is not closed yet" in unarmed

        assert place.foliot("chains", "stop", listed["id"]) == f"{listed['id']} is stopped\n"
        chain = closed(place, first)
        assert (chain["outcome"], chain["steps"][-1]["status"]) == ("stopped", "cancelled")
        assert "is closed already" in place.foliot("chains", "stop", listed["id"])

        second = trigger(place, "disk")
        until(lambda: place.objects("chains", "list", "--open"), lambda: place.foliot("chains"))
        assert place.foliot("chains", "stop-class", "disk") == "disk is stopped, with 1 active chain\n"
        assert closed(place, second)["outcome"] == "stopped"
        [shown_class] = place.objects("chains")
        assert (shown_class["stopped"], shown_class["active_chains"]) == (True, [])
        refused = ended(place, trigger(place, "disk"))
        assert (refused["status"], "stopped" in refused["error_message"]) == ("skipped", True)
        assert place.foliot("chains", "resume", "disk") == "disk may arm chains again\n"
        assert place.objects("chains", "resume", "disk") == [{"id": "disk", "result": "resumed"}]
        third = trigger(place, "disk")
        until(lambda: place.objects("chains", "list", "--open"), lambda: place.foliot("show", third))

        assert "chain 'nothing' does not exist" in place.foliot("chains", "show", "nothing", code=1)
        assert "nothing" in place.foliot("chains", "stop-class", "nothing", code=1)
        assert place.objects("chains", "list", "--class", "other") == []


@pytest.mark.proves("R3-52")
def test_an_operator_resets_a_breaker(place: Place) -> None:
    add(place, "disk", "breaker = { failures = 2 }", action="exit 3")

    with place.serve():
        for _ in range(2):
            assert closed(place, trigger(place, "disk"))["outcome"] == "escalated"
        [shown_class] = place.objects("chains")
        assert (shown_class["breaker"], len(shown_class["run_ids"])) == ("open", 2)
        assert "open until" in place.foliot("chains")
        assert "--reason" in place.foliot("chains", "reset", "disk", code=2)

        assert place.foliot("chains", "reset", "disk", "--reason", "fixed") == "the breaker of disk is closed\n"

        [shown_class] = place.objects("chains")
        assert (shown_class["breaker"], shown_class["failures"]) == ("closed", 0)
        assert closed(place, trigger(place, "disk"))["outcome"] == "escalated"

    kinds = [str(alert.kind) for alert in check_storage(place)]
    assert (kinds.count("breaker_opened"), kinds.count("breaker_closed")) == (1, 1)


# -- follow-ups of any run


TASKS: Final = """
import json
from foliot import current_run
from foliot.errors import ChainRefused

def note(name, value):
    with open(name, "w") as file:
        json.dump(value, file)

def starts():
    answer = current_run().spawn("echo", delay="1s", payload={"from": "python"})
    note("answer.json", dict(answer))

def decides(chain, data):
    chain = current_run().chain
    spent = chain.spend(tokens=3)
    state = chain.status()["stage"]
    try:
        chain.monitor()
    except ChainRefused as error:
        refused = error.refusal
    chain.close("from a function")
    note(f"{state}.json", [spent["tokens"], refused])

async def awaits(chain, data):
    chain = current_run().async_chain
    spent = await chain.spend(usd=0.25)
    await chain.spawn("more", delay=1)
    note("coroutine.json", [spent["usd"]])

def returns(chain, data):
    return {"decision": "close", "reason": "returned", "tokens": 9}
"""


def python_stage(call: str) -> str:
    return f'kind = "python"\ncall = "{call}"\ndelay = "1s"\n'


def test_functions_and_coroutines_in_processes_speak_to_their_chain(place: Place) -> None:
    (place.directory / "tasks.py").write_text(TASKS)
    classes = {
        "function": python_stage("tasks:decides"),
        "coroutine": python_stage("tasks:awaits"),
        "returned": python_stage("tasks:returns"),
    }
    more = "[chains.stages.more]\ncommand = 'exit 0'\n"
    text = "".join(f'[[chains]]\nid = "{name}"\n[chains.action]\n{stage}{more}' for name, stage in classes.items())
    place.file.write_text(text)

    with place.serve():
        runs = {name: trigger(place, name) for name in classes}
        chains = {name: closed(place, run_id) for name, run_id in runs.items()}

    assert {name: chain["outcome"] for name, chain in chains.items()} == dict.fromkeys(classes, "resolved")
    assert (decisions(chains["function"]), chains["function"]["tokens"]) == ([("action.1", "close")], 3)
    assert json.loads(read(place, "action.json")) == [3, "decision_not_allowed"]
    assert decisions(chains["coroutine"]) == [("action.1", "done"), ("more.1", "done")]
    assert (json.loads(read(place, "coroutine.json")), chains["coroutine"]["usd"]) == ([0.25], 0.25)
    assert (decisions(chains["returned"]), chains["returned"]["tokens"]) == ([("action.1", "close")], 9)
    check_storage(place)


def test_any_run_may_start_a_follow_up(either: Place) -> None:
    place = either
    (place.directory / "tasks.py").write_text(TASKS)
    text = place.file.read_text() if place.file.exists() else ""
    place.file.write_text(
        f"""{text}
[[jobs]]
id = "echo"
command = 'printf "%s %s" "$FOLIOT_PAYLOAD" "$FOLIOT_CHAIN_DEPTH" > "$FOLIOT_CHAIN_CLASS"'
[[jobs]]
id = "shell"
command = '''{CHAIN} spawn echo --delay 1s --payload '{{"from": "shell"}}' --dedupe-key a
{CHAIN} spawn echo --delay 1s --payload '{{"from": "shell"}}' --dedupe-key a > again
{CHAIN} spawn nothing 2> unknown; true'''
[[jobs]]
id = "function"
kind = "python"
call = "tasks:starts"
"""
    )

    with place.serve():
        for job in ("shell", "function"):
            place.foliot("trigger", job, "--wait")
        listed = until(
            lambda: (
                two if len(two := [one for one in place.objects("chains", "list") if one["outcome"]]) == 2 else None
            ),
            lambda: place.foliot("chains", "list"),
        )
        classes = {one["id"]: one for one in place.objects("chains")}

    assert {one["class_id"]: one["outcome"] for one in listed} == {"job:shell": "resolved", "job:function": "resolved"}
    assert read(place, "job:shell") == '{"from":"shell"} 1'
    assert read(place, "job:function") == '{"from":"python"} 1'
    assert json.loads(read(place, "answer.json"))["is_new"] is True
    assert "it existed already" in read(place, "again")
    assert "refused (job_not_found): 'nothing' is not a job" in read(place, "unknown")
    assert {name: one["stages"] for name, one in classes.items()} == {"job:shell": [], "job:function": []}
