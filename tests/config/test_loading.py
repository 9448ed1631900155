"""A whole configuration: all problems are reported together, and example files load."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.config import STARTER, Place, Problem, Severity, load
from foliot.config.document import key_text
from foliot.domain.deploy.deployment import Declared
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec, check_name
from foliot.domain.schedule.schedule import ScheduleSpec, check_schedule
from foliot.domain.vocabulary.field import Field
from foliot.domain.vocabulary.job import DESCRIPTION, OPTIONS
from foliot.domain.vocabulary.kind import PROCESS
from foliot.domain.vocabulary.places import DEFAULTS, JOB, SCHEDULE, SECTIONS, STEP, WORKFLOW
from foliot.domain.vocabulary.schedule import POLICY
from foliot.domain.vocabulary.workflow import APPROVAL, EDGE
from foliot.domain.workflow.check import check_workflow
from foliot.domain.workflow.jobs import jobs_of
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.testing.clock import START
from tests.cases import for_each
from tests.config.conftest import Good, Loader
from tests.config.toml_writer import TomlWriter


def test_all_problems_are_reported_with_file_line_and_hint(loaded: Loader, tmp_path: Path) -> None:
    result = loaded(
        """\
[servr]
[server]
concurrency = "many"
[defaults]
retry_count = 5000
[[jobs]]
id = "a"
schedule = "0 3 1 * MON"
comand = "x"
[[jobs]]
kind = "http"
command = "https://x.example"
timezone = "Europe/Berln"
every = 9
""",
        FOLIOT_SERVER_LEASE="0",
    )

    assert result.configuration is None
    assert [(problem.line, problem.severity, problem.key) for problem in result.problems] == [
        (1, "error", "servr"),
        (3, "error", "server.concurrency"),
        (5, "error", "defaults.retry_count"),
        (6, "error", "jobs[1]"),
        (8, "warning", "jobs[1].schedule"),
        (9, "error", "jobs[1].comand"),
        (10, "error", "jobs[2]"),
        (13, "error", "jobs[2].timezone"),
        (0, "error", "FOLIOT_SERVER_LEASE"),
    ]
    assert {problem.file for problem in result.problems} == {str(tmp_path / "foliot.toml"), "environment"}
    assert [problem.hint for problem in result.problems if "Did you mean" in problem.hint] == [
        'Did you mean "server"?',
        'Did you mean "command"?',
        'Did you mean "Europe/Berlin"?',
    ]


def test_errors_and_warnings_are_separate(loaded: Loader) -> None:
    result = loaded('[github]\nrepo = "x"\n[[jobs]]\nid = 5')

    assert [problem.severity for problem in result.errors] == ["error", "error"]
    assert [problem.line for problem in result.warnings] == [1]


def test_a_problem_is_formatted_like_a_compiler_message() -> None:
    problem = Problem(
        Severity.ERROR, Place("foliot.toml", 3, "server.concurrency"), "must be text", "Put it in quotes."
    )

    assert str(problem) == "foliot.toml:3: error: server.concurrency: must be text\n  Put it in quotes."
    assert str(problem._replace(place=Place("environment", 0), hint="")) == "environment: error: must be text"


def test_terminal_control_characters_in_a_key_are_escaped() -> None:
    assert key_text(("jobs", 0, "\x1b[31m")) == "jobs[1].'\\x1b[31m'"


@for_each(
    ("text", "message"),
    [
        ("server = 5", "server must be a table"),
        ("[[server]]\nconcurrency = 5", "server must be a table"),
        ("[jobs]\nid = 'a'", "jobs must be a list of tables"),
        ("jobs = [5]", "it must be a table"),
        ("include = 5", "must be text, not a whole number"),
        ("[server]\nname = 'x'\nlabel = 'y'", "name and label are the same option"),
        ("[server]\nconcurrency = true", "must be a whole number, not a boolean"),
        ("[server]\nconcurrency = 0", "must be 1 to 100000, not 0"),
        ("[server]\nwatch = 'yes'", "'yes' is not true or false"),
        ("[server]\nname = 1.5", "must be text, not a number"),
        ("[server]\nlease = nan", "must be a finite number of usable size, not nan"),
        ("[server]\nroles = []", "roles must not be empty"),
        ("[server]\nroles = ['web']", "'web' is not an allowed value"),
        ("[server]\nbase_path = 'foliot'", "'foliot' is not a path"),
        ("[server]\nbase_path = '/../x'", "'/../x' is not a path"),
        ("[server]\ntls_cert = 'x.pem'", "tls_cert needs tls_key"),
        ("[server]\ntls_client_ca = 'x.pem'", "tls_client_ca needs tls_cert"),
        ("[server]\nqueues = ['a b']", "queue 'a b' is not a valid name"),
        ('[server]\nname = "a\\u0000b"', "must not contain the character NUL"),
    ],
)
def test_an_invalid_structure_is_refused(loaded: Loader, text: str, message: str) -> None:
    [error] = loaded(text).errors

    assert error.message == message


# -- the examples of the RFC, and kinds and sections of later versions

RFC = """
[[jobs]]
id       = "daily-digest"
kind     = "workflow"
schedule = "30 14 * * *"          # after the jobs it waits on
timezone = "UTC"

depends_on   = ["subdomain-monitor", "nuclei-scan", "h1-sweep"]
window_sec   = 86400              # how far back to look for dep success
on_missing   = "skip"             # skip | fail | run
on_dep_fail  = "skip"             # skip | fail | run

command = "/opt/jobs/digest.sh"   # or JSON for http, same contract as shell/http kinds

[[jobs]]
id       = "scan-targets"
kind     = "fanout"
schedule = "0 6 * * *"

inputs_from = "file:///etc/cronlord/targets.txt"

concurrency          = 4
per_item_timeout_sec = 1800
partial_tolerance    = 0.1   # tolerate up to 10% child failures before parent fails

item_var = "FANOUT_ITEM"     # env var each child sees
command  = "nuclei -u $FANOUT_ITEM -silent -o /var/lib/cronlord/nuclei/$FANOUT_ITEM.log"

[jobs.reducer]
command = "python3 /opt/jobs/digest.py /var/lib/cronlord/nuclei"
run_on  = "success"          # success | always | any_success

[[jobs]]
id = "gated"
kind = "gate"
depends_on = ["daily-digest"]
inner_kind = "claude"
command    = "Read the three dep artifacts in /var/lib/cronlord/digests and write a summary."
"""
SCANS = "".join(
    f'[[jobs]]\nid = "{name}"\ncommand = "true"\n' for name in ("subdomain-monitor", "nuclei-scan", "h1-sweep")
)


def test_the_rfc_example_loads_with_warnings_for_missing_jobs(loaded: Loader) -> None:
    result = loaded(RFC)

    assert result.errors == ()
    strangers = [warning.message for warning in result.warnings if "not in these files" in warning.message]
    assert len(strangers) == 3


@pytest.mark.proves("R0-12", "R0-13", "R0-26")
def test_the_examples_of_the_rfc_load_unchanged(loaded: Loader) -> None:
    result = loaded(RFC + SCANS)

    assert result.configuration is not None
    jobs = result.configuration.declared.jobs
    assert result.warnings == ()
    digest, gated = jobs[JobId("daily-digest")], jobs[JobId("gated")]
    assert (digest.kind, digest.inner_kind, digest.spec) == ("workflow", "shell", {"command": "/opt/jobs/digest.sh"})
    assert digest.gate == Gate(depends_on=("subdomain-monitor", "nuclei-scan", "h1-sweep"))  # type: ignore[arg-type]
    assert (gated.kind, gated.inner_kind, gated.spec["prompt"][:9]) == ("workflow", "agent", "Read the ")
    assert list(result.configuration.declared.schedules) == ["daily-digest:default", "scan-targets:default"]


def test_the_fanout_of_the_rfc_loads_unchanged(loaded: Loader) -> None:
    result = loaded(RFC + SCANS)

    assert result.configuration is not None
    scan = result.configuration.declared.jobs[JobId("scan-targets")]
    fields = {name: scan.spec[name] for name in ("inputs_from", "concurrency", "per_item_timeout", "item_var")}
    assert (scan.kind, scan.options.queue) == ("fanout", "@trees")
    assert fields == {
        "inputs_from": "file:///etc/cronlord/targets.txt",
        "concurrency": 4,
        "per_item_timeout": 1_800_000,
        "item_var": "FANOUT_ITEM",
    }
    assert scan.spec["partial_tolerance"] == 0.1
    assert scan.spec["command"].startswith("nuclei -u $FANOUT_ITEM")
    assert scan.spec["reducer"]["spec"]["command"].startswith("python3 ")


def test_problems_of_gates_and_fanouts_are_reported_with_their_lines(loaded: Loader) -> None:
    text = (RFC + SCANS).replace("30 14", "99 14").replace('"skip" ', '"jump" ').replace("run_on", "run_of")

    assert [error.line for error in loaded(text).errors] == [5, 10, 11, 31]


@pytest.mark.parametrize("text", ["[github]\nrepo = 'x'", "[grimoire]"])
def test_sections_of_a_later_version_are_a_warning(loaded: Loader, text: str) -> None:
    result = loaded(text)

    assert result.configuration is not None
    assert "arrives with a later version" in result.warnings[0].message


# -- the starter file


def test_the_starter_file_loads_without_a_problem(loaded: Loader) -> None:
    result = loaded(STARTER)

    assert result.problems == ()
    assert result.configuration is not None
    assert list(result.configuration.declared.jobs) == ["hello"]
    assert [spec.catchup for spec in result.configuration.declared.schedules.values()] == ["once"]


def test_the_examples_in_the_starter_file_load_without_a_problem(loaded: Loader) -> None:
    examples = re.sub(r"(?m)^#(?! )", "", STARTER)

    result = loaded(examples, {"jobs.d/more.toml": ""})

    assert result.problems == ()
    assert result.configuration is not None
    kinds = {spec.kind for spec in result.configuration.declared.jobs.values()}
    assert kinds == {"shell", "http", "python", "agent", "fanout", "chain"}
    assert list(result.configuration.declared.workflows) == ["etl"]


def test_every_line_of_the_starter_file_is_short() -> None:
    assert max(map(len, STARTER.splitlines())) <= 110


# -- random content

SCHEMAS = (*SECTIONS.values(), JOB, SCHEDULE, DEFAULTS, WORKFLOW, STEP, EDGE, APPROVAL)
NAMES = sorted({name for schema in SCHEMAS for name in schema.names})
WORDS = st.sampled_from(
    ["", "x", "-1", "${", "${HOME}", "1h", "@daily", "* * * * *", "POST /", "\x1b", "é", "UTC", "{{ steps.x.output }}"]
)
SCALARS = st.integers() | st.booleans() | WORDS | st.floats() | st.just("https://x.example")
NESTED = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(NAMES), SCALARS, max_size=2)
VALUES = NESTED | st.lists(NESTED, max_size=2) | st.dictionaries(st.sampled_from(NAMES), NESTED, max_size=2)
TABLES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8)
STEPS = st.lists(st.dictionaries(st.sampled_from(STEP.names), VALUES, max_size=6), max_size=3)
WORKFLOWS = st.builds(
    lambda table, steps: {**table, "steps": steps},
    st.dictionaries(st.sampled_from(WORKFLOW.names), VALUES, max_size=4),
    STEPS,
)
FILES = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(SECTIONS, TABLES)
    | {"jobs": st.lists(TABLES, max_size=3), "workflows": st.lists(WORKFLOWS, max_size=2), "include": VALUES},
)


@given(tree=FILES, data=st.data())
def test_no_content_makes_loading_raise(
    tree: dict[str, object], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    writer = TomlWriter(lambda ways: data.draw(st.sampled_from(ways)))
    writer.document(tree)
    path = tmp_path_factory.mktemp("any") / "foliot.toml"
    path.write_text(writer.text, newline="")

    result = load(path, {"HOME": "/root"}, START)

    assert (result.configuration is None) == bool(result.errors)
    if result.configuration is not None:
        check_storable(result.configuration.declared)
    for problem in result.problems:
        assert problem.line >= 1
        assert problem.message


PLAUSIBLE: dict[str, list[Any]] = {
    "text": ["x", "a.b"],
    "duration": [1, 2.5, "5m"],
    "whole number": [1, 10],
    "number": [1, 1.0],
    "true or false": [True, False],
    "list of text": [["x"], "x", []],
    "list of duration": [[1, "5m"], []],
    "table of text": [{"A": "x", "B": 5}, {}],
    "table": [{}],
    "size": [1024, "64KB"],
    "octal digits": ["022", "077"],
    "any value": [1, [{"a": 1.5}], "x"],
    "moment": ["2027-01-01T00:00:00Z"],
}


def plausible(field: Field) -> st.SearchStrategy[Any]:
    return st.sampled_from(PLAUSIBLE.get(field.read.words) or field.read.words.split(" or "))


PARTS = {
    field.name: plausible(field) for field in (*DESCRIPTION, *OPTIONS, *POLICY, *PROCESS) if field.name != "timezone"
}
RULES = st.sampled_from([{"schedule": "* * * * *"}, {"every": "1h"}, {"at": "2027-01-01T00:00:00Z"}, {}])
GOOD_JOBS = st.tuples(st.fixed_dictionaries({}, optional=PARTS), RULES)


@given(tables=st.lists(GOOD_JOBS, max_size=3), data=st.data())
def test_every_configuration_that_loads_can_be_stored(
    tables: list[tuple[dict[str, Any], dict[str, Any]]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    jobs = [{"id": f"job-{number}", "command": "x", **part, **rule} for number, (part, rule) in enumerate(tables)]
    writer = TomlWriter(lambda ways: data.draw(st.sampled_from(ways)))
    writer.document({"jobs": jobs, "defaults": {"env": {"A": "a"}}})
    path = tmp_path_factory.mktemp("good") / "foliot.toml"
    path.write_text(writer.text, newline="")

    result = load(path, {}, START)

    for problem in result.errors:
        assert "more than half" in problem.message or "is after end_at" in problem.message
    if result.configuration is not None:
        assert len(result.configuration.declared.jobs) == len(jobs)
        check_storable(result.configuration.declared)


def check_storable(declared: Declared) -> None:
    """The checks of the services accept every definition that loads."""
    for job_id, job in declared.jobs.items():
        check_name("job_id", job_id)
        job.check()
        assert msgspec.json.decode(msgspec.json.encode(job), type=JobSpec) == job
        if job.gate is not None:
            job.gate.check(job_id)
            assert set(job.gate.depends_on) <= declared.jobs.keys() | workflow_names(declared)
    for workflow_id, workflow in declared.workflows.items():
        check_workflow(workflow_id, workflow, declared.jobs)
        assert msgspec.json.decode(msgspec.json.encode(workflow), type=WorkflowSpec) == workflow
    for schedule_id, spec in declared.schedules.items():
        if schedule_id not in declared.past:
            check_schedule(spec, schedule_id, START)
        assert msgspec.json.decode(msgspec.json.encode(spec), type=ScheduleSpec) == spec


def workflow_names(declared: Declared) -> set[JobId]:
    """Return the names of workflows and of the jobs of their steps."""
    return {name for workflow_id, spec in declared.workflows.items() for name in jobs_of(workflow_id, 1, spec)}


EDGES = st.sampled_from(
    [
        lambda parent: parent,
        lambda parent: {"step": parent, "when": ["success", "skipped"]},
        lambda parent: {"step": parent, "when": "all_done", "exit_code": 3},
        lambda parent: {"step": parent, "path": "a.0", "equals": [1]},
    ]
)
WORK: list[dict[str, Any]] = [
    {"command": "x", "env": {"A": "{{ params.day }}"}},
    {"kind": "http", "url": "https://x.example", "body": "{{ execution.id }}"},
    {"kind": "python", "call": "a:b", "timeout_sec": 5},
    {"approve": {"timeout_sec": "1d"}},
    {"job": "gate", "payload": {"a": ["{{ params.day }}"]}},
]


@st.composite
def good_workflows(draw: st.DrawFn) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 6))):
        parents = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        after = [draw(EDGES)(f"s{parent}") for parent in sorted(parents)]
        steps.append({"name": f"s{number}", "after": after, **draw(st.sampled_from(WORK))})
    return {"id": "flow", "params": {"day": 1}, "steps": draw(st.permutations(steps)), **draw(RULES)}


@given(workflow=good_workflows(), data=st.data())
def test_a_workflow_loads_the_same_in_every_toml_notation(
    workflow: dict[str, Any], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    gate = {"id": "gate", "kind": "workflow", "command": "x", "depends_on": ["flow"]}
    writer = TomlWriter(lambda ways: data.draw(st.sampled_from(ways)))
    writer.document({"jobs": [gate], "workflows": [workflow]})
    path = tmp_path_factory.mktemp("graph") / "foliot.toml"
    path.write_text(writer.text, newline="")

    result = load(path, {}, START)

    assert result.configuration is not None, result.problems
    declared = result.configuration.declared
    check_storable(declared)
    spec = declared.workflows["flow"]
    written = {step["name"]: len(step["after"]) for step in workflow["steps"]}
    assert {step.name: len(step.after) for step in spec.steps} == written


def test_the_lines_of_a_large_file_are_correct(good: Good) -> None:
    jobs = "".join(f'[[jobs]]\nid = "job-{number}"\ncommand = "true"\nschedule = "@hourly"\n' for number in range(500))

    declared = good(jobs).declared

    assert len(declared.jobs) == len(declared.schedules) == 500
    assert JobId("job-499") in declared.jobs
