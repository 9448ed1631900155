"""A workflow as a JSON document has the options of the file, reports problems by JSON path, and is read back."""

import json
import tomllib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from foliot.config.json_document import json_path, open_document
from foliot.config.workflow_json import names_in, read_workflow
from foliot.config.workflow_writing import public_workflow, write_workflow
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.builder import Workflow
from foliot.domain.workflow.document import WorkflowDocument
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidDocument, InvalidInput, InvalidWorkflow
from foliot.testing.clock import START
from tests.cases import for_each
from tests.config.conftest import Good
from tests.config.workflow_documents import JOBS, Document, documents


def read(document: Any, jobs: dict[JobId, JobSpec] | None = None) -> WorkflowDocument:
    return read_workflow(open_document(document), JOBS if jobs is None else jobs, START)


def written(found: WorkflowDocument) -> Document:
    return write_workflow(found.id, found.spec, found.schedules)


def problems(**keys: Any) -> list[tuple[str, str]]:
    """Return the problems of a workflow with these keys."""
    with pytest.raises(InvalidDocument) as caught:
        read({"id": "etl", "steps": [{"name": "a", "command": "x"}], **keys})
    return [(problem.key, problem.message) for problem in caught.value.problems]


def owned(spec: WorkflowSpec, source: str) -> WorkflowSpec:
    steps = [
        step if step.definition is None else replace(step, definition=replace(step.definition, source=source))
        for step in spec.steps
    ]
    return replace(spec, source=source, steps=tuple(steps))


@pytest.mark.proves("R2-25", "R4-32")
def test_a_document_means_the_same_as_a_file(good: Good) -> None:
    text = """
        id = "etl"
        params = { day = 1 }
        timeout_sec = "2h"
        [[triggers]]
        type = "schedule_based"
        cron_expr = "0 3 * * *"
        timezone = "Europe/Berlin"
        [[steps]]
        name = "extract"
        command = "./extract.sh"
        env = { DAY = "{{ params.day }}" }
        [[steps]]
        name = "load"
        after = { step = "extract", when = "complete", exit_code = [0, 3] }
        kind = "python"
        call = "shop.tasks:load"
        retry_count = 2
    """
    in_file = text.replace("[[", "[[workflows.")

    found = read(json.dumps(tomllib.loads(text)))

    declared = good(f"[[workflows]]{in_file}").declared
    assert found.spec == owned(declared.workflows["etl"], "api")
    assert found.schedules == {name: replace(spec, source="workflow") for name, spec in declared.schedules.items()}


@given(documents())
@settings(deadline=None)
def test_every_written_document_is_read_back(document: Document) -> None:
    found = read(document)
    stored = msgspec.json.decode(msgspec.json.encode(found.spec), type=WorkflowSpec)

    text = json.dumps(write_workflow(found.id, stored, found.schedules))

    again = read(text)
    assert (again.id, again.spec, again.schedules) == (found.id, found.spec, found.schedules)
    assert json.loads(text) == written(found) == written(again)


@pytest.mark.parametrize("wanted", [None, 0, False, "", [], {}])
def test_an_edge_that_compares_with_null_or_empty_is_written(wanted: object) -> None:
    steps = [{"name": "a", "command": "x"}, {"name": "b", "command": "x", "after": [{"step": "a", "equals": wanted}]}]

    found = read({"id": "etl", "steps": steps})

    assert written(found)["steps"][1]["after"] == [{"step": "a", "when": ["success"], "equals": wanted}]
    assert read(written(found)).spec == found.spec


def test_variables_of_the_server_are_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")

    found = read({"id": "etl", "steps": [{"name": "a", "kind": "http", "url": "https://x.example/${TOKEN}/$${x}"}]})

    assert found.spec.steps[0].definition is not None
    assert found.spec.steps[0].definition.spec == {"url": "https://x.example/${TOKEN}/$${x}"}


# -- all problems together, by path


def test_two_triggers_with_one_name_are_refused_with_both_paths() -> None:
    trigger = {"type": "schedule_based", "name": "b", "cron_expr": "@daily"}

    with pytest.raises(InvalidDocument, match=r"\$\.triggers\[1\]: .* The first one is at \$\.triggers\[0\]\."):
        read({"id": "etl", "steps": [{"name": "a", "command": "x"}], "triggers": [trigger, trigger]})


@pytest.mark.proves("R2-31", "R2-33", "R4-33")
def test_all_problems_are_reported_by_path() -> None:
    found = problems(
        description=5,
        triggers=[
            {"type": "schedule_based", "cron_expr": "61 * * * *"},
            {"type": "schedule_based", "name": "b", "cron_expr": "@daily", "timezone": "Mars"},
            {"type": "schedule_based", "name": "b", "every": 60},
        ],
        steps=[
            {"name": "a", "after": "b", "command": "x", "env": {"A": "{{ params.x }}"}},
            {"name": "b", "after": ["a", {"step": "c", "wen": "failure"}], "command": "x"},
            {"name": "c", "job": "reprot"},
            {"name": "d", "job": "etl"},
            {"name": "e", "command": "x", "depends_on": ["nowhere"]},
            {"name": "f", "comand": "x"},
        ],
    )

    assert [(path, message[:36]) for path, message in found] == [
        ("$.description", "must be text, not a whole number"),
        ("$.triggers[0].cron_expr", "schedule \"etl:default\": minute '61' "),
        ("$.triggers[1].timezone", "timezone 'Mars' does not exist"),
        ("$.triggers[2]", 'there are two schedules named "b"'),
        ("$.steps[1].after[1].wen", "key 'wen' does not exist"),
        ("$.steps[5].comand", "key 'comand' does not exist"),
        ("$.steps[5]", "a job of kind shell needs command or"),
        ("$", "the steps form a cycle: a -> b -> a"),
        ("$.steps[2]", 'step "c": job "reprot" does not exis'),
        ("$.steps[3]", 'step "d": "etl" would start itself w'),
        ("$.steps[0]", 'step "a": {{ params.x }}: parameter '),
        ("$.steps[4]", 'step "e": job "nowhere" does not exi'),
    ]


def test_a_similar_name_is_suggested() -> None:
    with pytest.raises(InvalidDocument) as caught:
        read({"id": "etl", "steps": [{"name": "a", "job": "reprot"}]})

    assert [told.in_one_line for told in caught.value.problems] == [
        '$.steps[0]: step "a": job "reprot" does not exist. Did you mean "report"?'
    ]


@for_each(
    ("keys", "path", "message"),
    [
        ({"renamed_from": "old"}, "$.renamed_from", "renamed_from belongs into a file"),
        ({"steps": {}}, "$.steps", "steps must be a list of tables"),
        ({"steps": []}, "$", "a workflow needs at least one step"),
        ({"steps": [5]}, "$.steps[0]", "it must be a table"),
        ({"no key": 1}, '$["no key"]', "key 'no key' does not exist"),
        ({"owner": None}, "$.owner", "must be text, not null"),
        ({"steps": [{"name": "a", "command": "x", "env": {"T": "***"}}]}, "$.steps[0].env.T", "this value was hidden"),
        (
            {"steps": [{"name": "a", "command": "curl -H 'Authorization: Bearer ***' x"}]},
            "$.steps[0].command",
            "this value was hidden",
        ),
        (
            {"steps": [{"name": "a", "kind": "http", "url": "https://x/?t=***"}]},
            "$.steps[0].url",
            "this value was hidden",
        ),
    ],
)
def test_an_invalid_workflow_is_refused(keys: Document, path: str, message: str) -> None:
    assert (path, message) in problems(**keys)


@for_each(
    ("document", "message"),
    [
        ("{", "the document is not JSON"),
        (b"\xff", "the document is not JSON"),
        ("[]", "the document must be an object"),
        ({"id": object()}, "the document is not JSON"),
        ('{"id": "a", "steps": [{"name": "a", "command": "x", "payload": ' + "[" * 200 + "]" * 200 + "}]}", "lists or"),
        ("[" * 100_000, "lists or objects are nested too deeply"),
        ('{"id": "' + "x" * (16 << 20) + '"}', "the document has more than 16777216 bytes"),
        ('{"id": "' + "é" * (8 << 20) + '"}', "the document has more than 16777216 bytes"),
    ],
)
def test_an_invalid_document_is_refused(document: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(document)


def test_a_trigger_of_another_type_is_a_warning() -> None:
    step = {"name": "a", "command": "x"}

    found = read({"id": "etl", "triggers": [{"type": "webhook", "path": "/x"}], "steps": [step]})

    assert found.schedules == {}
    assert found.warnings[0].startswith("$.triggers[0]: a trigger of type 'webhook' starts nothing here")


# -- jobs and paths


def test_job_names_of_a_document_are_found_before_reading() -> None:
    steps = [
        {"name": "a", "job": "report", "depends_on": "x"},
        {"name": "b", "command": "x", "depends_on": ["y", 5]},
        "no step",
    ]

    assert names_in({"id": "etl", "steps": steps}) == {"etl", "etl.a", "etl.b", "report", "x", "y"}
    assert names_in({}) == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [((), "$"), (("steps", 0, "after"), "$.steps[0].after"), (("params", 'a"b', "ü"), '$.params["a\\"b"]["ü"]')],
)
def test_a_path_is_written_as_json_path(path: tuple[str | int, ...], text: str) -> None:
    assert json_path(path) == text


# -- values that cannot be written, and secrets


def test_a_python_function_cannot_be_written_to_a_document() -> None:
    flow = Workflow("etl", retries=3)
    flow.step("a", lambda: None)

    with pytest.raises(InvalidWorkflow) as caught:
        write_workflow("etl", flow.spec, {})

    assert [problem.message for problem in caught.value.problems] == [
        "retries of a workflow has no place in a document",
        'step "a": handler has no place in a document',
    ]
    assert caught.value.message.startswith("workflow 'etl' cannot be written as a document:\n  - retries")
    assert caught.value.hint.startswith("Change it where it is defined.")


def test_secrets_are_masked_and_a_masked_document_cannot_be_deployed() -> None:
    step = {"name": "a", "kind": "http", "url": "https://me:pw@x.example", "headers": {"A": "b"}}
    document = written(read({"id": "etl", "params": {"token": "t", "day": 1}, "steps": [step]}))

    shown = public_workflow(document)

    assert shown["params"] == {"token": "***", "day": 1}
    assert shown["steps"][0]["headers"] == {"A": "***"}
    assert "pw" not in json.dumps(shown)
    with pytest.raises(InvalidDocument):
        read(shown)


@pytest.mark.parametrize("number", [10**400, 1 << 20_000], ids=["400 digits", "unprintable"])
def test_a_number_that_json_cannot_represent_is_refused(number: int) -> None:
    with pytest.raises(InvalidInput):
        read({"id": "etl", "timeout_sec": number, "steps": [{"name": "a", "command": "x"}]})


def test_a_number_out_of_range_in_json_text_is_reported_by_path() -> None:
    text = f'{{"id": "etl", "timeout_sec": {"9" * 400}, "steps": [{{"name": "a", "command": "x"}}]}}'

    with pytest.raises(InvalidInput) as caught:
        read(text)

    assert len(str(caught.value)) < 1_000


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "document",
    [
        {LONG: 1},
        {"id": LONG, "steps": [{"name": LONG, LONG: 1}]},
        {"id": "etl", "steps": [{"name": LONG, "command": "x"}, {"name": "b", "command": "x", "after": ["a"]}]},
        {"id": "etl", "params": {LONG: 1}, "steps": [{"name": "a", "command": "{{ params.y }}"}]},
    ],
    ids=["key", "keys of a step", "names of steps", "names of parameters"],
)
def test_long_values_are_shortened_in_messages(document: Document) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read(document)

    assert len(str(caught.value)) < 4_000
