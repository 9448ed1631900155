"""A definition that is written as TOML and read again is the same, in a text that is sent as in a file."""

import tomllib
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from foliot.config.definition_text import open_text
from foliot.config.definition_writing import (
    WrittenText,
    secret_tree,
    secret_workflow_tree,
    write_job_text,
    write_workflow_text,
)
from foliot.config.job_json import read_job
from foliot.config.toml_writing import write_table
from foliot.config.workflow_json import read_workflow
from foliot.domain.chain.spec import Ceilings
from foliot.domain.deploy.text import TextDefinition
from foliot.domain.ids import JobId
from foliot.domain.schedule.defaults import NO_DEFAULTS
from foliot.errors import NotWritable
from foliot.testing.clock import START
from tests.config.conftest import Good
from tests.config.test_positions import KEYS, TREES
from tests.config.workflow_documents import JOBS, OWN, POLICY, RULES, Document, documents, joined

NASTY = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("${}$\"'\\\n\t"), max_size=12)


def read(text: str, secrets: dict[JobId, Any]) -> TextDefinition:
    found = open_text(text).with_secrets(secrets).read(JOBS, START, NO_DEFAULTS, Ceilings())
    assert found.errors == (), text
    [definition] = found.definitions
    return definition


def writable(write: Any) -> WrittenText:
    try:
        written: WrittenText = write()
    except NotWritable:
        assume(False)
    return written


@given(documents())
def test_a_workflow_is_the_same_after_writing_and_reading(document: Document) -> None:
    before = read_workflow(document, JOBS, START)

    written = writable(lambda: write_workflow_text(before.id, before.spec, before.schedules))
    after = read(written.toml, {before.id: secret_workflow_tree(before.id, before.spec, before.schedules)})

    assert (after.workflow, after.schedules) == (before.spec, before.schedules), written.toml


@given(OWN, st.just({}) | joined(RULES, POLICY), NASTY)
def test_a_job_is_the_same_after_writing_and_reading(own: Document, schedule: Document, text: str) -> None:
    document = {**own, "id": "x", "description": text, **schedule}
    document.pop("user_id", None)  # only workflows have one
    if "CRON_TZ" in document.get("schedule", ""):
        document.pop("timezone", None)
    if "env" in own:
        document["env"] = {**own["env"], "A": text}
    before = read_job(document, START)

    written = writable(lambda: write_job_text(before.id, before.spec, before.schedules))
    after = read(written.toml, {before.id: secret_tree(before.id, before.spec, before.schedules)})

    assert (after.job, after.schedules) == (before.spec, before.schedules), written.toml


@given(TREES, KEYS)
def test_a_table_is_read_as_it_was_written(tree: dict[str, Any], name: str) -> None:
    assert tomllib.loads(write_table("[x]", {**tree, name: 1}))["x"] == {**tree, name: 1}


def test_a_text_means_the_same_in_a_file(good: Good) -> None:
    text = '[[jobs]]\nid = "x"\ncommand = "echo ${HOME}"\ndescription = "costs $${PRICE}"\n'

    [in_file] = good(text).declared.jobs.values()
    sent = read(text, {}).job

    assert sent is not None
    assert (sent.spec, sent.description) == (in_file.spec, in_file.description)
    assert (sent.spec, sent.description) == ({"command": "echo ${HOME}"}, "costs ${PRICE}")


def test_a_variable_of_a_file_is_written_as_a_variable(good: Good) -> None:
    text = '[[jobs]]\nid = "x"\nkind = "http"\nurl = "https://${HOST}/$${A}"\n'
    [(job_id, job)] = good(text, HOST="hidden.example").declared.jobs.items()

    assert 'url = "https://${HOST}/$${A}"' in write_job_text(job_id, job, {}).toml
