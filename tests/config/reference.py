"""Generates the tables of docs/reference from the tables of options.

python -m tests.config.reference    writes them into the pages
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from foliot.config.environment import SHORT
from foliot.domain.vocabulary import access, chain, kind, notification, server, workflow
from foliot.domain.vocabulary.field import Field, Schema, without
from foliot.domain.vocabulary.job import DESCRIPTION, GATE, IDENTITY, OPTIONS
from foliot.domain.vocabulary.places import (
    DEFAULTS,
    DSN_SECTION,
    INCLUDE,
    JOB,
    JOB_CALL,
    KIND_CALLS,
    MAP_CALL,
    ROOT,
    RUN_CALL,
    SCHEDULE_CALL,
    SECTIONS,
    STEP_CALL,
    TRIGGER,
    UPSERT_CALL,
)
from foliot.domain.vocabulary.readers import NEGATED_FLAG, TABLES
from foliot.domain.vocabulary.schedule import ENABLED, NAME, PAYLOAD, POLICY, RULE

PAGE = Path(__file__).parents[2] / "docs/reference/configuration.md"
PYTHON_PAGE = PAGE.with_name("python.md")
HEAD = "| key | type | default | meaning |\n|---|---|---|---|\n"
ALIASES = "Other spellings"
ENVIRONMENT = "Environment"
OPTIONS_OF_CALLS = "Options"


def besides(fields: Iterable[Field], others: Iterable[Field]) -> tuple[Field, ...]:
    return without(fields, *(field.name for field in others))


def in_file(field: Field) -> Field:
    if field.name == "include":
        return next(iter(INCLUDE))
    return field._replace(read=TABLES._replace(words="table")) if field.name in (*SECTIONS, DSN_SECTION) else field


TABLES_OF_PAGE: dict[str, tuple[Field, ...]] = {
    "The file": tuple(map(in_file, ROOT)),
    "`[server]`": server.SERVER.fields,
    "`[storage]`": server.STORAGE.fields,
    "`[queue]`": server.QUEUE.fields,
    "`[retention]`": server.RETENTION.fields,
    "`[outbound]`": server.OUTBOUND.fields,
    "`[fanout]`": server.FANOUT.fields,
    "`[chain_ceilings]`": chain.CEILINGS.fields,
    "`[notifications]`": notification.NOTIFICATIONS.fields,
    "`[auth]`": access.AUTH.fields,
    "`[[jobs]]`": (*IDENTITY, *DESCRIPTION),
    "When it runs": (*RULE, *POLICY),
    "How its runs are handled": OPTIONS,
    "Notifications of a job": notification.NOTIFY,
    "Processes: `shell`, `python`, `agent`": kind.PROCESS,
    "`limits`": kind.LIMITS.fields,
    "`shell`": besides(kind.KIND_FIELDS["shell"], kind.PROCESS),
    "`http`": kind.KIND_FIELDS["http"].fields,
    "`python`": besides(kind.KIND_FIELDS["python"], kind.PROCESS),
    "`agent`": besides(kind.KIND_FIELDS["agent"], kind.PROCESS),
    "`args`": kind.ARGS.fields,
    "Gates": (*GATE, kind.INNER_KIND),
    "`fanout`": kind.FANOUT_FIELDS.fields,
    "`reducer`": kind.REDUCER.fields,
    "`[[jobs.schedules]]`": (NAME, ENABLED, PAYLOAD),
    "`[[workflows]]`": workflow.WORKFLOW_ONLY,
    "`[[workflows.steps]]`": workflow.STEP_ONLY,
    "`[[chains]]`": (*chain.IDENTITY_OF_CLASS, *chain.LIMITS, *chain.CHAIN_ONLY),
    "A stage": chain.STAGE_ONLY,
    "`breaker`": chain.BREAKER.fields,
    "`[[chains.intervals]]`": chain.INTERVAL.fields,
    "`after`": workflow.EDGE.fields,
    "`approve`": workflow.APPROVAL.fields,
}
"""Heading -> the options in its table."""


def table(fields: Iterable[Field]) -> str:
    """Return the table of the options that have an effect."""
    return HEAD + "".join(row(field) for field in fields if field.has_effect)


def row(field: Field) -> str:
    default = f"`{field.default}` " if field.default else ""
    return f"| `{field.name}` | {field.read.words} | {default}| {field.doc} |\n"


def all_fields() -> tuple[Field, ...]:
    options = (*(field for fields in TABLES_OF_PAGE.values() for field in fields), *TRIGGER)
    return tuple(field for field in options if field.has_effect)


UNITS = {"_ms": "milliseconds", "_sec": "seconds"}
"""The end of an alias -> the unit of its numbers."""


def aliases() -> str:
    """Return the table of aliases: one row per alias."""
    found = {alias.name: (field.name, alias) for field in all_fields() for alias in field.aliases}
    rows = []
    for name, (key, alias) in sorted(found.items()):
        unit = next((f"{unit} " for end, unit in UNITS.items() if name.endswith(end)), "")
        opposite = ", with the opposite value" if alias.read is NEGATED_FLAG else ""
        rows.append(f"| `{name}` | `{key}`{opposite} | {unit}|\n")
    return "| spelling | key | a number is in |\n|---|---|---|\n" + "".join(rows)


def variables() -> str:
    """Return the table of variables with a short name."""
    rows = []
    for variable, (section, name) in SHORT.items():
        field = SECTIONS[section].find(name)
        assert field is not None
        unit = ", in milliseconds" if name.endswith("_ms") else ""
        rows.append(f"| `{variable}` | `[{section}] {field.name}`{unit} |\n")
    return "| variable | key |\n|---|---|\n" + "".join(rows)


CALLS: dict[str, tuple[Schema, str]] = {
    "`app.enqueue`, `app.enqueue_many`, `Workflow`": (RUN_CALL, ""),
    "`app.job`": (JOB_CALL, "`app.enqueue`"),
    "`app.call`": (KIND_CALLS["python"], "`app.job`"),
    "`app.shell`": (KIND_CALLS["shell"], "`app.call`"),
    "`app.agent`": (KIND_CALLS["agent"], "`app.shell`"),
    "`app.http`": (KIND_CALLS["http"], "`app.job`"),
    "`Workflow.step`": (STEP_CALL, "`app.enqueue`"),
    "`app.map`, `app.start_map`": (MAP_CALL, ""),
    "`app.schedule`": (SCHEDULE_CALL, ""),
    "`app.schedules.upsert`, `app.schedules.upsert_many`": (UPSERT_CALL, "`app.schedule`"),
}
"""Calls -> their options, and the call whose options are among them."""


def calls() -> str:
    """Return the table of the options of each call."""
    rows = []
    for call, (schema, base) in CALLS.items():
        known = next((fields for name, (fields, _) in CALLS.items() if base and name.startswith(base)), ())
        names = ", ".join(f"`{field.name}`" for field in besides(schema, known))
        rows.append(f"| {call} | {f'those of {base}, and ' if base else ''}{names} |\n")
    return "| Call | Options |\n|---|---|\n" + "".join(rows)


def not_in_defaults() -> list[str]:
    return [field.name for field in JOB if field.name not in DEFAULTS]


def wanted() -> dict[str, str]:
    """Return heading -> the table below it."""
    tables = {heading: table(fields) for heading, fields in TABLES_OF_PAGE.items()}
    return {**tables, ALIASES: aliases(), ENVIRONMENT: variables()}


def text_under(heading: str, page: str) -> str:
    found = re.search(rf"(?ms)^##+ {re.escape(heading)}$(.*?)(?=^##|\Z)", page)
    assert found is not None, f"the page has no section {heading}"
    return found[1]


def written(page: str, tables: Mapping[str, str]) -> str:
    """Return the page with newly generated tables."""
    for heading, rows in tables.items():
        before = text_under(heading, page)
        after = re.sub(r"(?m)(?:^\|.*\n)+", rows.replace("\\", r"\\"), before, count=1)
        page = page.replace(f"# {heading}\n{before[1:]}", f"# {heading}\n{after[1:]}")
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), wanted()))
    PYTHON_PAGE.write_text(written(PYTHON_PAGE.read_text(), {OPTIONS_OF_CALLS: calls()}))
