"""The reference page has every option with its type, default and meaning."""

import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from foliot.config import Configuration
from foliot.domain.job.kinds import KINDS, read_spec
from foliot.domain.vocabulary.kind import ARGS
from foliot.domain.vocabulary.places import CALL_PLACES, JOB, ROOT, SECTIONS, STEP, WORKFLOW
from tests.cases import for_each
from tests.config.conftest import Good, Loader
from tests.config.reference import (
    OPTIONS_OF_CALLS,
    PYTHON_PAGE,
    TABLES_OF_PAGE,
    calls,
    not_in_defaults,
    text_under,
    wanted,
)
from tests.config.reference import PAGE as PATH

PAGE = PATH.read_text()
ROW = re.compile(r"(?m)^\| (?P<names>`[^|]+) \| (?P<type>[^|]*) \|(?P<default>[^|]*)\|[^|]*\|$")
REMAKE = "make the tables anew with: python -m tests.config.reference"


class Row(NamedTuple):
    name: str
    default: str


def rows(heading: str) -> Iterator[Row]:
    for found in ROW.finditer(text_under(heading, PAGE)):
        yield Row(found["names"].strip("`"), found["default"].strip("` "))


@for_each("heading", wanted())
def test_every_table_of_the_page_is_generated_from_the_options(heading: str) -> None:
    assert wanted()[heading] in text_under(heading, PAGE), REMAKE


def test_the_page_of_the_library_lists_the_options_of_each_call() -> None:
    assert calls() in text_under(OPTIONS_OF_CALLS, PYTHON_PAGE.read_text()), REMAKE


def test_every_table_of_the_page_is_checked() -> None:
    headings = re.findall(r"(?m)^##+ (.*)$", PAGE)
    with_tables = {heading for heading in headings if ROW.search(text_under(heading, PAGE))}

    assert with_tables == TABLES_OF_PAGE.keys()


def test_every_option_of_a_place_is_on_the_page() -> None:
    documented = {row.name for heading in TABLES_OF_PAGE for row in rows(heading)}

    for schema in (JOB, STEP, WORKFLOW, *SECTIONS.values()):
        assert {field.name for field in schema if field.has_effect} <= documented


def test_no_option_without_an_effect_is_on_the_page() -> None:
    for schema in (ROOT, JOB, STEP, WORKFLOW, ARGS, *SECTIONS.values()):
        for name in (field.name for field in schema if not field.has_effect):
            assert f"`{name}`" not in PAGE, f"{schema.owner}: {name}"


def test_every_option_has_a_sentence_of_documentation() -> None:
    for schema in (JOB, STEP, WORKFLOW, *SECTIONS.values(), *CALL_PLACES):
        for field in schema:
            assert re.fullmatch(r"[-`A-Z0-9].*[.`]", field.doc), f"{schema.owner}: {field.name}: {field.doc}"


def test_no_alias_is_in_a_table_of_options() -> None:
    aliases = {alias.name for fields in TABLES_OF_PAGE.values() for field in fields for alias in field.aliases}
    documented = {row.name for heading in TABLES_OF_PAGE for row in rows(heading)}

    assert aliases.isdisjoint(documented)


def test_the_page_lists_what_has_no_default_for_all() -> None:
    listed = re.findall(r"`([a-z_]+)`", text_under("`[defaults]`", PAGE).partition("Not allowed here")[2])

    assert listed == not_in_defaults()


# -- defaults


def defaults(*headings: str) -> list[tuple[str, str]]:
    return [(row.name, row.default) for heading in headings for row in rows(heading) if row.default]


@pytest.mark.parametrize("section", ["server", "storage", "queue", "retention", "outbound"])
def test_writing_the_defaults_of_a_section_changes_nothing(good: Good, section: str) -> None:
    defaults_text = good(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in defaults(f"`[{section}]`")))

    assert defaults_text == good("# nothing\n")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_writing_the_defaults_of_a_job_changes_nothing(good: Good, kind: str) -> None:
    command = {"http": "https://x.example", "python": "a:b"}.get(kind, "x")
    job = f'[[jobs]]\nid = "a"\nkind = "{kind}"\ncommand = "{command}"\ncron = "@daily"\n'
    headings = ["`[[jobs]]`", "When it runs", "How its runs are handled", f"`{kind}`"]
    if kind != "http":
        headings.append("Processes: `shell`, `python`, `agent`")
    keys = [f"{key} = {value}" for key, value in defaults(*headings) if key != "kind"]

    defaults_text, unsaid = good(job + "\n".join(keys)), good(job)

    assert plain(defaults_text, kind) == plain(unsaid, kind)


def test_writing_the_defaults_of_a_gate_changes_nothing(good: Good) -> None:
    jobs = '[[jobs]]\nid = "a"\ncommand = "x"\n[[jobs]]\nid = "b"\ncommand = "x"\ndepends_on = ["a"]\n'

    assert good(jobs + defaults_text("Gates")).declared == good(jobs).declared


def test_writing_the_defaults_of_a_workflow_changes_nothing(good: Good) -> None:
    workflow = '[[workflows]]\nid = "w"\ncron = "@daily"\n'
    first = '[[workflows.steps]]\nname = "a"\ncommand = "x"\n'
    second = '[[workflows.steps]]\nname = "b"\ncommand = "x"\nafter = [{ step = "a" }]\n'
    asking = '[[workflows.steps]]\nname = "c"\napprove = {}\n'
    step = defaults_text("`[[workflows.steps]]`", "How its runs are handled").replace(
        "max_concurrent = 1", "max_concurrent = 0"
    )
    step = step.replace("trigger_rule", "# not without after: trigger_rule")
    edge = defaults_text("`after`").strip()

    spoken = good(
        workflow
        + defaults_text("`[[workflows]]`", "When it runs")
        + first
        + step
        + second.replace('"a" }', f'"a", {edge} }}')
        + asking.replace("{}", "{ " + defaults_text("`approve`").strip().replace("\n", ", ") + " }")
    )

    assert spoken.declared == good(workflow + first + second + asking).declared


def defaults_text(*headings: str) -> str:
    return "".join(f"{key} = {value}\n" for key, value in defaults(*headings))


def plain(configuration: Configuration, kind: str) -> object:
    [job] = configuration.declared.jobs.values()
    fields = {name: getattr(job, name) for name in job.__struct_fields__ if name != "spec"}
    return fields, read_spec(KINDS[kind], job.spec), configuration.declared.schedules


# -- examples


def test_every_example_of_the_page_loads_without_a_problem(loaded: Loader) -> None:
    examples = re.findall(r"(?ms)^```toml\n(.*?)^```$", PAGE)

    for example in examples:
        assert loaded(example, {"jobs.d/a.toml": ""}, HEALTH_TOKEN="a-long-token").problems == ()
    assert examples


def test_every_default_is_toml() -> None:
    for heading in TABLES_OF_PAGE:
        for key, value in defaults(heading):
            assert key in tomllib.loads(f"{key} = {value}")
