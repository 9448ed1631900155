"""Definitions as TOML by HTTP: checked, applied as a whole, and written."""

import json
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot
from foliot.domain.chain.spec import Ceilings
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.run.payload import MAX_LEVELS
from tests.interfaces.api.serving import Client

BACKUP = '[[jobs]]\nid = "backup"\ncron = "0 3 * * *"\ncommand = "true"\n'
ETL = """
[[workflows]]
id = "etl"
[[workflows.steps]]
name = "extract"
command = "true"
[[workflows.steps]]
name = "load"
command = "true"
after = { step = "extract", when = "failure" }
"""
FAN = '[[jobs]]\nid = "fan"\nkind = "fanout"\nitems = ["a", "b"]\ncommand = "true"\n'
CHAIN = """
[[chains]]
id = "disk"
every = "5m"
usd = 2.5
[chains.scout]
command = "exit 10"
[chains.action]
command = "true"
env = { TOKEN = "hush" }
"""
EXAMPLES = sorted(Path(__file__).parents[3].joinpath("examples").rglob("*.toml"))


async def check(api: Client, toml: str) -> dict[str, Any]:
    answer = await api.post("/api/definitions/check", {"toml": toml})
    assert answer.status == 200, answer.json
    found: dict[str, Any] = answer.json
    return found


def without_settings(text: str) -> str:
    """Return a configuration without its sections for the server."""
    kept, is_kept = [], True
    for line in text.splitlines():
        if line.startswith("["):
            is_kept = line.startswith(("[[", "[defaults", "[jobs", "[workflows", "[chains."))
        kept.append(line if is_kept else "")
    return "\n".join(kept)


# -- check


async def test_a_check_returns_every_kind_of_definition(on_each: Client) -> None:
    found = await check(on_each, BACKUP + FAN + CHAIN + ETL)

    assert found["is_valid"], found["problems"]
    shown = {one["id"]: (one["kind"], one["work"], one["action"], one["line"]) for one in found["definitions"]}
    assert shown == {
        "backup": ("job", "shell", "created", 1),
        "fan": ("fanout", "fanout", "created", 5),
        "disk": ("chain", "chain", "created", 11),
        "etl": ("workflow", "workflow", "created", 21),
    }
    backup, fan, disk, etl = found["definitions"]
    assert (fan["items"], disk["stages"]) == (2, ["scout", "action"])
    assert backup["schedules"][0]["words"] == "at 03:00 every day, UTC"
    assert len(backup["schedules"][0]["next"]) == 5
    assert [(step["name"], step["layer"]) for step in etl["steps"]] == [("extract", 1), ("load", 2)]
    assert etl["steps"][1]["after"][0] | {"words": ""} == {
        "step": "extract",
        "when": ["failure"],
        "test": None,
        "words": "",
    }


async def test_a_check_stores_nothing(api: Client) -> None:
    await check(api, BACKUP)

    assert (await api.get("/api/jobs")).json["items"] == []


async def test_every_problem_has_its_line_and_column(api: Client) -> None:
    found = await check(
        api, '[[jobs]]\nid = "a"\n  comand = "x"\ntimeout = "soon"\n[[jobs]]\nid = "b"\ndepends_on = ["zz"]\n'
    )

    assert not found["is_valid"]
    places = {(one["line"], one["column"], one["field"], one["severity"]) for one in found["problems"]}
    assert {(3, 3, "jobs[1].comand", "error"), (4, 1, "jobs[1].timeout", "error")} <= places
    assert (7, 15, "jobs[2].depends_on[1]", "error") in places
    assert all(one["message"] and one["hint"] for one in found["problems"])
    assert [one["action"] for one in found["definitions"]] == ["created", "created"]


async def test_a_definition_that_cannot_be_read_is_listed(api: Client) -> None:
    found = await check(
        api, '[[jobs]]\nid = "a"\nkind = "nope"\n[[chains]]\nid = "c"\n[[workflows]]\nid = "w"\nsteps = 7\n'
    )

    assert [(one["kind"], one["id"], one["action"]) for one in found["definitions"]] == [
        ("job", "a", "unreadable"),
        ("chain", "c", "unreadable"),
        ("workflow", "w", "unreadable"),
    ]


async def test_text_that_is_no_toml_is_a_problem_with_a_place(api: Client) -> None:
    found = await check(api, '[[jobs]]\nid = "a\n')

    assert [(one["line"], one["column"]) for one in found["problems"]] == [(2, 8)]
    assert found["definitions"] == []


async def test_a_check_compares_with_what_is_stored(api: Client) -> None:
    await api.post("/api/definitions", {"toml": BACKUP + ETL})

    [same] = (await check(api, BACKUP))["definitions"]
    [other] = (await check(api, BACKUP.replace("true", "false")))["definitions"]

    assert (same["action"], same["revision"], same["owner"], same["changes"]) == ("unchanged", 1, "api", [])
    assert other["action"] == "changed"
    assert other["changes"] == [{"field": "command", "before": "true", "after": "false"}]


async def test_a_job_that_is_stored_may_be_named(api: Client) -> None:
    await api.put("/api/jobs/report", {"command": "true"})
    text = '[[workflows]]\nid = "w"\n[[workflows.steps]]\nname = "s"\njob = "report"\n'
    text += '[[jobs]]\nid = "g"\ndepends_on = ["report"]\ncommand = "x"\n'

    assert (await check(api, text))["problems"] == []
    assert "does not exist" in (await check(api, text.replace('"report"', '"else"')))["problems"][0]["message"]


async def test_a_broken_graph_is_shown_with_its_problem(api: Client) -> None:
    found = await check(api, ETL.replace('name = "extract"', 'name = "extract"\nafter = "load"'))

    assert "cycle" in found["problems"][0]["message"]
    [etl] = found["definitions"]
    assert ([step["name"] for step in etl["steps"]], etl["drawing"]) == (["extract", "load"], None)


@pytest.mark.parametrize(
    "text", ['include = ["/etc/passwd"]', "[server]\nport = 1", '[storage]\nurl = "x"', '[dsn]\na = "x"', "[auth]"]
)
async def test_what_would_configure_or_read_the_server_is_refused(api: Client, text: str) -> None:
    [problem] = (await check(api, text))["problems"]

    assert (problem["severity"], problem["line"]) == ("error", 1)
    assert "configuration file of the server" in problem["message"]


async def test_variables_of_the_server_are_never_read(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_SERVER", "hush")
    text = '[[jobs]]\nid = "x"\ncommand = "echo ${SECRET_OF_SERVER}"\ndescription = "%s{SECRET_OF_SERVER:-none}"\n'

    refused = await api.post("/api/definitions", {"toml": text % "$"})
    stored = await api.post("/api/definitions", {"toml": text % "$$"})

    assert (refused.status, refused.error["problems"][0]["line"]) == (422, 4)
    assert b"hush" not in refused.content + stored.content
    job = (await api.get("/api/jobs/x")).json
    assert job["spec"]["command"] == "echo ${SECRET_OF_SERVER}"
    assert job["description"] == "${SECRET_OF_SERVER:-none}"


async def test_ceilings_of_the_server_bind_chains(api: Client, app: Foliot) -> None:
    (await app.open()).schedules.default_layers.ceilings = Ceilings(max_depth=3)

    found = await check(api, CHAIN)

    assert "above the ceiling of this server" in found["problems"][0]["message"]


# -- apply


async def test_a_text_is_stored_as_a_whole(on_each: Client) -> None:
    applied = await on_each.post("/api/definitions", {"toml": BACKUP + FAN + CHAIN + ETL})

    assert applied.status == 200, applied.json
    assert {one["id"]: (one["action"], one["revision"]) for one in applied.json["definitions"]} == dict.fromkeys(
        ["backup", "fan", "disk", "etl"], ("created", 1)
    )
    assert (await on_each.get("/api/jobs/backup")).json["source"] == "api"
    assert (await on_each.get("/api/workflows/etl")).json["version"] == 1
    assert [one["id"] for one in (await on_each.get("/api/chain-classes")).json["items"]] == ["disk"]
    assert {one["kind"] for one in (await on_each.get("/api/audit")).json["items"]} >= {"job", "schedule", "workflow"}


async def test_a_text_with_one_error_stores_nothing(api: Client) -> None:
    refused = await api.post("/api/definitions", {"toml": BACKUP + '[[jobs]]\nid = "x"\ncomand = "true"\n'})

    assert (refused.status, refused.error["code"]) == (422, "invalid_document")
    assert [(one["line"], one["field"]) for one in refused.error["problems"]] == [(5, "jobs[2]"), (7, "jobs[2].comand")]
    assert (await api.get("/api/jobs")).json["items"] == []


async def test_other_definitions_stay(api: Client) -> None:
    await api.post("/api/definitions", {"toml": BACKUP + ETL})

    await api.post("/api/definitions", {"toml": FAN})

    assert {one["id"] for one in (await api.get("/api/jobs")).json["items"]} == {"backup", "etl", "fan"}
    assert (await api.get("/api/workflows/etl")).status == 200


async def test_a_schedule_that_left_the_text_of_its_job_is_deleted(api: Client) -> None:
    await api.post("/api/definitions", {"toml": BACKUP})
    await api.post("/api/schedules/upsert", {"schedule_id": "by-hand", "job_id": "backup", "every": 60})
    changed = BACKUP.replace('cron = "0 3 * * *"\n', "")

    [planned] = (await check(api, changed))["definitions"]
    await api.post("/api/definitions", {"toml": changed})

    assert [(one["id"], one["action"]) for one in planned["schedules"]] == [("backup:default", "removed")]
    left = (await api.get("/api/jobs/backup")).json["schedules"]
    assert [one["schedule_id"] for one in left] == ["by-hand"]


async def test_what_a_file_owns_is_refused_with_its_place(app: Foliot, api: Client) -> None:
    async def find_place(name: str) -> str | None:
        return f"jobs.toml:{len(name)}"

    api.context.find_place = find_place
    services = await app.open()
    await services.jobs.put({JobId("backup"): JobSpec(kind="shell", spec={"command": "x"}, source="file")})

    refused = await api.post("/api/definitions", {"toml": BACKUP + FAN})
    checked = await check(api, BACKUP + FAN)

    assert (refused.status, refused.error["code"]) == (409, "owned_elsewhere")
    assert "jobs.toml:6" in refused.error["message"]
    owned, free = checked["definitions"]
    assert (owned["action"], owned["owner"], owned["place"]) == ("refused", "file", "jobs.toml:6")
    assert free["action"] == "created"
    assert (await api.get("/api/jobs/fan")).status == 404
    assert (await api.get("/api/jobs/backup/toml")).json["place"] == "jobs.toml:6"


async def test_an_edit_of_an_old_revision_is_refused(on_each: Client) -> None:
    await on_each.post("/api/definitions", {"toml": BACKUP + ETL})
    both = (BACKUP + ETL).replace('"true"', '"false"')

    for expected in ({"backup": 7}, {"etl": 2}, {"etl": 0}):
        refused = await on_each.post("/api/definitions", {"toml": both, "expected": expected})
        assert (refused.status, refused.error["code"]) == (412, "changed_meanwhile"), expected
    matched = await on_each.post("/api/definitions", {"toml": BACKUP.replace("true", "no")}, if_match='"7"')
    good = await on_each.post("/api/definitions", {"toml": both, "expected": {"backup": 1, "etl": 1}})

    assert (matched.status, good.status) == (412, 200)
    assert [one["revision"] for one in good.json["definitions"]] == [2, 2]


async def test_expected_revisions_of_other_definitions_are_refused(api: Client) -> None:
    other = await api.post("/api/definitions", {"toml": BACKUP, "expected": {"else": 1}})
    several = await api.post("/api/definitions", {"toml": BACKUP + FAN}, if_match='"1"')

    assert (other.status, other.error["field"]) == (422, "expected")
    assert (several.status, several.error["field"]) == (422, "expected")


async def test_what_is_new_can_be_paused_from_its_first_instant(on_each: Client) -> None:
    await on_each.post("/api/definitions", {"toml": BACKUP})

    await on_each.post("/api/definitions", {"toml": BACKUP.replace("true", "false") + CHAIN, "pause_new": True})

    old, new = (await on_each.get("/api/jobs/backup")).json, (await on_each.get("/api/jobs/disk")).json
    assert (old["paused"], old["schedules"][0]["paused"]) == (False, False)
    assert (new["paused"], new["schedules"][0]["paused"]) == (True, True)


async def test_a_workflow_and_a_job_cannot_take_the_place_of_each_other(api: Client) -> None:
    await api.post("/api/definitions", {"toml": BACKUP + ETL})

    for text in (BACKUP.replace("backup", "etl"), ETL.replace('id = "etl"', 'id = "backup"')):
        assert (await api.post("/api/definitions", {"toml": text})).status == 422


async def test_a_name_of_another_workflow_is_refused(api: Client) -> None:
    await api.post("/api/definitions", {"toml": ETL})

    refused = await api.post("/api/definitions", {"toml": BACKUP.replace("backup", "etl.load")})

    assert refused.status == 409
    assert "by the workflow that it is part of" in refused.error["message"]


# -- secrets


async def test_a_mask_keeps_the_stored_secret(api: Client, app: Foliot) -> None:
    text = (
        CHAIN
        + '[[jobs]]\nid = "x"\ncommand = "true"\nwebhook_url = "https://hooks.example/hush"\n'
        + 'env = { A = "hush ${X}" }\n'
    )
    text = text.replace("${X}", "$${X}")
    text += '[[jobs.schedules]]\nname = "n"\nevery = 60\npayload = { token = "hush" }\n'
    assert (await api.post("/api/definitions", {"toml": text})).status == 200
    services = await app.open()
    before = [await services.jobs.record(name) for name in ("x", "disk")]
    texts = [(await api.get(f"/api/jobs/{name}/toml")).json for name in ("x", "disk")]

    for one in texts:
        assert one["is_masked"]
        assert "hush" not in one["toml"]
        assert (await api.post("/api/definitions", {"toml": one["toml"]})).status == 200

    assert [await services.jobs.record(name) for name in ("x", "disk")] == before
    assert before[0].spec.spec["env"] == {"A": "hush ${X}"}
    stored = await services.schedules.record("x:n")
    assert stored.revision.spec.payload == {"token": "hush"}


async def test_masks_of_steps_are_found_by_the_name_of_the_step(api: Client, app: Foliot) -> None:
    text = ETL.replace('command = "true"', 'command = "true"\nenv = { A = "hush" }')
    await api.post("/api/definitions", {"toml": text})
    masked = (await api.get("/api/workflows/etl/toml")).json["toml"]
    more = masked.replace(
        "[[workflows.steps]]", '[[workflows.steps]]\nname = "zero"\ncommand = "true"\n\n[[workflows.steps]]', 1
    )

    applied = await api.post("/api/definitions", {"toml": more})

    assert applied.status == 200, applied.json
    steps = (await (await app.open()).workflows.record("etl")).spec.steps
    envs = [step.definition.spec.get("env") for step in steps if step.definition is not None]
    assert envs == [None, {"A": "hush"}, {"A": "hush"}]


async def test_a_mask_without_a_stored_value_is_refused(api: Client) -> None:
    [problem] = (await check(api, BACKUP + 'env = { TOKEN = "***" }\n'))["problems"]

    assert (problem["line"], problem["column"], problem["message"]) == (5, 9, "this value was hidden")


# -- written as TOML


@pytest.mark.parametrize("text", [file.read_text() for file in EXAMPLES], ids=[file.stem for file in EXAMPLES])
async def test_each_example_is_unchanged_by_its_own_text(api: Client, text: str) -> None:
    assert (await api.post("/api/definitions", {"toml": without_settings(text)})).status == 200
    jobs = [one["id"] for one in (await api.get("/api/jobs")).json["items"]]
    workflows = [one["id"] for one in (await api.get("/api/workflows")).json["items"]]
    paths = [f"/api/jobs/{name}/toml" for name in jobs] + [f"/api/workflows/{name}/toml" for name in workflows]

    for path in paths:
        written = (await api.get(path)).json["toml"]
        found = await check(api, written)

        assert found["problems"] == [], written
        assert [one["action"] for one in found["definitions"]] == ["unchanged"], (written, found["definitions"])


async def test_the_text_of_a_class_has_its_own_path(api: Client) -> None:
    await api.post("/api/definitions", {"toml": CHAIN + BACKUP})

    written = await api.get("/api/chain-classes/disk/toml")

    assert (written.status, written.headers["ETag"]) == (200, '"1"')
    assert '[chains.action]\ncommand = "true"\nenv = { TOKEN = "***" }' in written.json["toml"]
    assert (await api.get("/api/chain-classes/backup/toml")).status == 404


async def test_an_old_version_of_a_workflow_is_written(api: Client) -> None:
    await api.post("/api/definitions", {"toml": ETL})
    await api.post("/api/definitions", {"toml": ETL.replace('"load"', '"store"')})

    first = (await api.get("/api/workflows/etl/toml?version=1")).json

    assert (first["revision"], 'name = "load"' in first["toml"]) == (1, True)
    assert (await api.get("/api/workflows/etl/toml?version=9")).status == 404


async def test_a_function_and_null_cannot_be_written(app: Foliot, api: Client) -> None:
    services = await app.open()
    await services.jobs.put({JobId("f"): JobSpec(kind="function", spec={}, source="app")})
    await api.put("/api/jobs/x", {"command": "true", "payload": {"a": [None]}})

    function, null = await api.get("/api/jobs/f/toml"), await api.get("/api/jobs/x/toml")

    assert [(one.status, one.error["code"]) for one in (function, null)] == [(409, "not_writable")] * 2
    assert "payload.a.1 is null" in null.error["message"]


# -- hostile input


@pytest.mark.parametrize(
    "text",
    [
        "a." * 300_000 + "a = 1",
        "x = " + "[" * 200_000,
        "x = " + "{a=" * 5_000,
        "[[jobs]]\n" * 3_000,
        f"x = {'9' * 10_000}",
        "[" + "a." * MAX_LEVELS * 2 + "a]",
        "jobs = 7",
        "jobs = [7, [], {}, 'x']",
        "[jobs]\nid = 1",
        "[[workflows]]\nid = []\nsteps = 7",
        "[[workflows]]\nid = 'w'\nsteps = [1, {name = []}]",
        "[[chains]]\nid = 'c'\nscout = 7\nstages = [1]\nintervals = {}",
        "[[chains]]\nid = 'c'\n[chains.action]\njob = 7\nexit_codes = { x = 1 }",
        "[[jobs]]\nid = 'a\\u0000b'\ncommand = 'x'\n",
        '[[jobs]]\nid = "a\\u0000b"\ndepends_on = ["a\\u0000"]\ncommand = "x"\n',
        "[[jobs]]\nid = 'x'\ncron = 7\ncommand = [1]\nenv = 'a'\nschedules = 1",
        "[defaults]\nenv = 7\ntimezone = 'Nope'",
        "defaults = 7",
        "[[defaults]]\ntimeout = 1",
        "[[jobs]]\nid = 'x'\nrenamed_from = 'y'\ncommand = 'x'",
        "\ufeff[[jobs]]",
        "[[jobs]]\nid = 'x'\ncommand = 'x'\nitems = 2020-01-01T00:00:00Z",
        f"[[jobs]]\nid = '{'x' * 100_000}'\ncommand = 'x'",
    ],
    ids=range(23),
)
async def test_hostile_text_is_a_list_of_problems(on_each: Client, text: str) -> None:
    found = await check(on_each, text)
    applied = await on_each.post("/api/definitions", {"toml": text})

    assert not found["is_valid"]
    assert applied.status == 422


@pytest.mark.parametrize("body", [{}, {"toml": 7}, {"toml": None}, {"toml": "", "x": 1}])
async def test_a_body_of_another_shape_is_refused(api: Client, body: dict[str, object]) -> None:
    for path in ("/api/definitions", "/api/definitions/check"):
        assert (await api.post(path, body)).status == 422


async def test_a_text_that_is_too_large_is_refused(api: Client) -> None:
    wide = await api.post("/api/definitions/check", json.dumps({"toml": "# " + "é" * 600_000}).encode())
    long = await api.post("/api/definitions/check", json.dumps({"toml": "x" * (1 << 20) + "x"}).encode())
    large = await api.post("/api/definitions/check", b'{"toml": "' + b"x" * (5 << 20) + b'"}')

    assert [(one.status, one.error["field"]) for one in (wide, long)] == [(422, "toml")] * 2
    assert large.status == 413


async def test_only_editors_apply_and_viewers_check(guarded: Client) -> None:
    statuses = {
        role: [
            (await guarded.post(path, {"toml": BACKUP}, authorization=f"Bearer {role}")).status
            for path in ("/api/definitions/check", "/api/definitions")
        ]
        for role in ("viewer", "operator", "editor")
    }

    assert statuses == {"viewer": [200, 403], "operator": [200, 403], "editor": [200, 200]}
