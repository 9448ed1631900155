"""Reads definitions in a text that a client sends: the syntax of a configuration file, without its settings.

    open_text        TOML -> a tree, its size and depth bounded
    names            the jobs that matter to it, which are read from the storage
    with_secrets     *** -> the stored value in the same place
    read             the tree -> definitions, and every problem with its line

A text means the same as in a file. What would read this machine, files to include and variables of the environment, is
refused: the right to edit definitions does not include reading the server.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from foliot.config.declarations import Declarations, Sources, read_declarations
from foliot.config.document import Document, Node, Problems
from foliot.config.environment import Variables
from foliot.config.files import sections
from foliot.config.job_json import restore_hidden
from foliot.config.jobs import FileJob
from foliot.config.json_document import default_policies, hidden_values
from foliot.config.reading import Fields, Reading
from foliot.config.toml import parse_toml
from foliot.config.workflow_json import names_in, owned_workflow
from foliot.config.workflows import FileWorkflow
from foliot.domain.chain.spec import CHAIN, Ceilings
from foliot.domain.deploy.text import API, MAX_BYTES, MAX_DEFINITIONS, TextDefinition, TextDefinitions
from foliot.domain.fanout.spec import FANOUT
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from foliot.domain.job.job import LONGEST_NAME, JobSpec
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.vocabulary.places import DEFAULTS, DSN_SECTION, INCLUDE, ROOT, SECTIONS
from foliot.domain.workflow.jobs import PART_SOURCE
from foliot.errors import InvalidInput, Place

KINDS: Final = ("jobs", "workflows", "chains")
_NOT_HERE: Final = (*(name for name in SECTIONS if name != "defaults"), DSN_SECTION, *(one.name for one in INCLUDE))


class OpenText(NamedTuple):
    """A text as a tree; an empty one if it is not TOML."""

    document: Document
    problems: Problems

    @property
    def tables(self) -> list[tuple[str, dict[str, Any]]]:
        """The tables with definitions, each with the name of its list."""
        lists = [(kind, self.document.tree.get(kind)) for kind in KINDS]
        return [(kind, one) for kind, found in lists if isinstance(found, list) for one in found if _is_table(one)]

    @property
    def ids(self) -> set[JobId]:
        """The ids that it defines."""
        return {JobId(table["id"]) for _, table in self.tables if _is_name(table.get("id"))}

    @property
    def names(self) -> set[JobId]:
        """The jobs that its definitions may need, as far as they can be found before they are read."""
        named = self.ids.union(*(_names_in(kind, table) for kind, table in self.tables))
        return {name for name in named if _is_name(name)}

    def with_secrets(self, stored: Mapping[JobId, Mapping[str, Any]]) -> "OpenText":
        """Return the text with the stored values in place of masks. `stored`: the tables of stored definitions, by id.

        Steps and schedules are compared by their names, so that they may be moved.
        """
        tree = dict(self.document.tree)
        for kind in KINDS:
            if isinstance(tree.get(kind), list):
                tree[kind] = [_restored(one, stored) for one in tree[kind]]
        return self._replace(document=self.document.with_tree(tree))

    def read(
        self, stored: Mapping[JobId, JobSpec], now: Instant, defaults: ScheduleDefaults, ceilings: Ceilings
    ) -> TextDefinitions:
        """Return what a text defines, as far as it can be read, and all problems. `stored`: those of `names` that
        exist."""
        document, problems = self
        reading = Reading({}, problems, now, variables=Variables.REFUSED)
        root = Node(document.tree, document)
        _check_root(root, reading)
        sources = Sources(
            jobs=_tables(document, "jobs", reading),
            workflows=_tables(document, "workflows", reading),
            chains=_tables(document, "chains", reading),
            ceilings=ceilings,
            defaults=Fields(default_policies(defaults) | _defaults(document, reading)),
            queues=None,
            stored=stored,
        )
        found = read_declarations(sources, reading)
        _refuse_renames(found, reading)
        for problem in hidden_values(root):
            problems.error(*problem)
        read = [*map(_job, found.jobs), *map(_workflow, found.workflows)]
        return TextDefinitions(tuple(sorted(read, key=lambda one: one.place.line)), problems.sorted())


def open_text(text: str) -> OpenText:
    """Parse a text. What is wrong with it is among its problems."""
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise InvalidInput(f"the text has more than {MAX_BYTES} bytes", hint="Send it in parts.", field="toml")
    problems = Problems()
    tree = parse_toml(text, "", problems)
    opened = OpenText(Document("", Path(), {} if tree is None else tree, text), problems)
    if (number := len(opened.tables)) > MAX_DEFINITIONS:
        message = f"the text has {number} definitions, more than {MAX_DEFINITIONS}"
        problems.error(Place("", 1), message, "Send it in parts.")
        return OpenText(Document("", Path(), {}, text), problems)
    return opened


def _names_in(kind: str, table: Mapping[str, Any]) -> set[JobId]:
    if kind == "workflows":
        return names_in(table)
    stages = [one for one in table.values() if isinstance(one, dict)]
    stages += [one for outer in stages for one in outer.values() if isinstance(one, dict)]
    named = [*_list(table.get("depends_on")), *(one.get("job") for one in (table, *stages))]
    return {JobId(name) for name in named if isinstance(name, str)}


def _is_name(value: Any) -> bool:
    """Whether a value may be the name of something stored."""
    return isinstance(value, str) and "\0" not in value and len(value) <= LONGEST_NAME


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# -- masks


def _restored(table: Any, stored: Mapping[JobId, Mapping[str, Any]]) -> Any:
    name = table.get("id") if isinstance(table, dict) else None
    known = stored.get(JobId(name)) if isinstance(name, str) else None
    return table if known is None else _restored_table(table, known)


def _restored_table(table: dict[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _restored_list(value, stored.get(key))
        if key in ("steps", "schedules")
        else restore_hidden(value, stored.get(key), key)
        for key, value in table.items()
    }


def _restored_list(tables: Any, stored: Any) -> Any:
    if not isinstance(tables, list) or not isinstance(stored, list):
        return tables
    by_name = {one.get("name"): one for one in stored}
    return [
        restore_hidden(one, by_name.get(one.get("name", "default"), {})) if _is_named(one) else one for one in tables
    ]


def _is_named(table: Any) -> bool:
    return isinstance(table, dict) and isinstance(table.get("name", ""), str)


# -- sections


def _check_root(root: Node, reading: Reading) -> None:
    """Report keys and sections that do not belong into such a text."""
    known = {name: value for name, value in root.value.items() if name not in _NOT_HERE}
    reading.table(root._replace(value=known), ROOT)
    for name in _NOT_HERE:
        if name in root.value:
            message = f"{name} belongs into the configuration file of the server"
            hint = "Leave it out. A text that is sent has [defaults], [[jobs]], [[workflows]] and [[chains]] only."
            reading.problems.error(root.child(name).place, message, hint)


def _defaults(document: Document, reading: Reading) -> Fields:
    fields = Fields()
    for node in sections((document,), "defaults"):
        fields |= reading.table(node, DEFAULTS)
    return fields


def _tables(document: Document, name: str, reading: Reading) -> Iterator[Node]:
    for node in sections((document,), name):
        if isinstance(node.value, list):
            yield from node.children()
        else:
            reading.problems.error(node.place, f"{name} must be a list of tables", f"Write [[{name}]].")


def _refuse_renames(found: Declarations, reading: Reading) -> None:
    those: Iterable[FileJob | FileWorkflow] = (*found.jobs, *found.workflows)
    for one in those:
        if "renamed_from" in one.fields:
            hint = "Save it under the id that it has."
            place = one.fields["renamed_from"].place
            reading.problems.error(place, "renamed_from belongs into a configuration file", hint)


# -- definitions, as those of a JSON document


def _job(job: FileJob) -> TextDefinition:
    return TextDefinition(
        kind=_kind(job),
        id=job.id,
        place=job.place,
        job=None if job.spec is None else replace(job.spec, source=API),
        workflow=None,
        schedules={one.id: replace(one.spec, source=API) for one in job.schedules},
        past=frozenset(one.id for one in job.schedules if one.is_past),
    )


def _kind(job: FileJob) -> str:
    if job.spec is None:
        return CHAIN if job.written.path[0] == "chains" else "job"
    return job.spec.kind if job.spec.kind in (CHAIN, FANOUT) else "job"


def _workflow(workflow: FileWorkflow) -> TextDefinition:
    return TextDefinition(
        kind="workflow",
        id=workflow.id,
        place=workflow.place,
        job=None,
        workflow=None if workflow.spec is None else owned_workflow(workflow.spec),
        schedules={one.id: replace(one.spec, source=PART_SOURCE) for one in workflow.schedules},
        past=frozenset(one.id for one in workflow.schedules if one.is_past),
    )
