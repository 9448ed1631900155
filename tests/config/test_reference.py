"""The reference page has every key of the schema with its type and default, and nothing else."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from foliot.config import Configuration
from foliot.config import keys as schema
from foliot.config.environment import SHORT
from foliot.config.schema import Key
from foliot.domain.job.kinds import KINDS, read_spec
from tests.cases import for_each
from tests.config.conftest import Good, Loader

PAGE = (Path(__file__).parents[2] / "docs/reference/configuration.md").read_text()
ROW = re.compile(r"(?m)^\| (?P<names>`[^|]+) \| (?P<type>[^|]*) \|(?P<default>[^|]*)\|[^|]*\|$")


def without(keys: Iterable[Key], others: Iterable[Key]) -> list[Key]:
    names = {key.name for key in others}
    return [key for key in keys if key.name not in names]


SECTIONS: dict[str, Iterable[Key]] = {
    "The file": schema.ROOT,
    "`[server]`": schema.SERVER,
    "`[storage]`": schema.STORAGE,
    "`[queue]`": schema.QUEUE,
    "`[retention]`": schema.RETENTION,
    "`[outbound]`": schema.OUTBOUND,
    "`[[jobs]]`": (*schema.IDENTITY, *schema.DESCRIPTION),
    "When it runs": (*schema.RULE, *schema.POLICY),
    "How its runs are handled": schema.OPTIONS,
    "Processes: `shell`, `python`, `agent`": schema.PROCESS,
    "`limits`": schema.LIMITS,
    "`shell`": without(schema.KIND_KEYS["shell"], schema.PROCESS),
    "`http`": schema.KIND_KEYS["http"],
    "`python`": without(schema.KIND_KEYS["python"], schema.PROCESS),
    "`agent`": without(schema.KIND_KEYS["agent"], schema.PROCESS),
    "`args`": schema.ARGS,
    "Gates": (*schema.GATE, schema.INNER_KIND),
    "Kinds that arrive later": schema.LATER_KINDS["fanout"],
    "`[[jobs.schedules]]`": without(schema.SCHEDULE, (*schema.RULE, *schema.POLICY)),
    "`[[workflows]]`": without(schema.WORKFLOW, (*schema.RULE, *schema.POLICY)),
    "`[[workflows.steps]]`": schema.STEP_ONLY,
    "`after`": schema.EDGE,
    "`approve`": schema.APPROVAL,
}


class Row(NamedTuple):
    names: tuple[str, ...]
    type: str
    default: str


def rows(heading: str) -> Iterator[Row]:
    for found in ROW.finditer(text_under(heading)):
        yield Row(tuple(re.findall(r"`([^`]+)`", found["names"])), found["type"], found["default"].strip("` "))


def text_under(heading: str) -> str:
    found = re.search(rf"(?ms)^##+ {re.escape(heading)}$(.*?)(?=^##|\Z)", PAGE)
    assert found is not None, f"the page has no section {heading}"
    return found[1]


@for_each("heading", SECTIONS)
def test_every_key_has_its_row_and_every_row_its_key(heading: str) -> None:
    written = sorted(name for row in rows(heading) for name in row.names)

    assert written == sorted(name for key in SECTIONS[heading] for name in (key.name, *key.aliases))


@for_each("heading", [heading for heading in SECTIONS if heading != "The file"])
def test_every_row_says_what_its_key_takes(heading: str) -> None:
    types = {row.names: row.type for row in rows(heading)}

    assert types == {(key.name, *key.aliases): key.read.words for key in SECTIONS[heading]}


def test_no_table_of_the_page_is_overlooked() -> None:
    headings = re.findall(r"(?m)^##+ (.*)$", PAGE)
    with_tables = {heading for heading in headings if ROW.search(text_under(heading))}

    assert with_tables == SECTIONS.keys()


def test_every_job_key_is_in_one_of_the_tables() -> None:
    documented = {name for heading in SECTIONS for row in rows(heading) for name in row.names}

    assert set(schema.JOB.names) <= documented


def test_the_page_lists_what_has_no_default_for_all() -> None:
    listed = re.findall(r"`([a-z_]+)`", text_under("`[defaults]`").partition("Not here")[2])

    assert set(listed) == set(schema.JOB.names) - set(schema.DEFAULTS.names)


def test_the_page_lists_the_short_names_of_variables() -> None:
    listed = re.findall(r"(?m)^\| `(FOLIOT_\w+)` \| `\[(\w+)\] (\w+)` \|$", text_under("Environment"))

    assert {name: (section, key) for name, section, key in listed} == SHORT


# -- the defaults that it names


def defaults(*headings: str) -> list[tuple[str, str]]:
    return [(row.names[0], row.default) for heading in headings for row in rows(heading) if row.default]


@pytest.mark.parametrize("section", ["server", "storage", "queue", "retention", "outbound"])
def test_saying_the_default_of_a_section_changes_nothing(good: Good, section: str) -> None:
    said = good(f"[{section}]\n" + "".join(f"{key} = {value}\n" for key, value in defaults(f"`[{section}]`")))

    assert said == good("# nothing\n")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_saying_the_defaults_of_a_job_changes_nothing(good: Good, kind: str) -> None:
    command = {"http": "https://x.example", "python": "a:b"}.get(kind, "x")
    job = f'[[jobs]]\nid = "a"\nkind = "{kind}"\ncommand = "{command}"\nschedule = "@daily"\n'
    headings = ["`[[jobs]]`", "When it runs", "How its runs are handled", f"`{kind}`"]
    if kind != "http":
        headings.append("Processes: `shell`, `python`, `agent`")
    keys = [f"{key} = {value}" for key, value in defaults(*headings) if key != "kind"]

    said, unsaid = good(job + "\n".join(keys)), good(job)

    assert plain(said, kind) == plain(unsaid, kind)


def test_saying_the_defaults_of_a_gate_changes_nothing(good: Good) -> None:
    jobs = '[[jobs]]\nid = "a"\ncommand = "x"\n[[jobs]]\nid = "b"\ncommand = "x"\ndepends_on = ["a"]\n'

    assert good(jobs + said("Gates")).declared == good(jobs).declared


def test_saying_the_defaults_of_a_workflow_changes_nothing(good: Good) -> None:
    workflow = '[[workflows]]\nid = "w"\nschedule = "@daily"\n'
    first = '[[workflows.steps]]\nname = "a"\ncommand = "x"\n'
    second = '[[workflows.steps]]\nname = "b"\ncommand = "x"\nafter = [{ step = "a" }]\n'
    asking = '[[workflows.steps]]\nname = "c"\napprove = {}\n'
    step = said("`[[workflows.steps]]`", "How its runs are handled").replace("max_concurrent = 1", "max_concurrent = 0")
    step = step.replace("trigger_rule", "# not without after: trigger_rule")
    edge = said("`after`").strip()

    spoken = good(
        workflow
        + said("`[[workflows]]`", "When it runs")
        + first
        + step
        + second.replace('"a" }', f'"a", {edge} }}')
        + asking.replace("{}", "{ " + said("`approve`").strip().replace("\n", ", ") + " }")
    )

    assert spoken.declared == good(workflow + first + second + asking).declared


def said(*headings: str) -> str:
    return "".join(f"{key} = {value}\n" for key, value in defaults(*headings))


def plain(configuration: Configuration, kind: str) -> object:
    [job] = configuration.declared.jobs.values()
    fields = {name: getattr(job, name) for name in job.__struct_fields__ if name != "spec"}
    return fields, read_spec(KINDS[kind], job.spec), configuration.declared.schedules


# -- its examples


def test_every_example_of_the_page_loads_without_a_problem(loaded: Loader) -> None:
    examples = re.findall(r"(?ms)^```toml\n(.*?)^```$", PAGE)

    for example in examples:
        assert loaded(example, {"jobs.d/a.toml": ""}, HEALTH_TOKEN="x").problems == ()
    assert examples


def test_every_default_is_toml() -> None:
    for heading in SECTIONS:
        for key, value in defaults(heading):
            assert key in tomllib.loads(f"{key} = {value}")
