"""Generates the tables of docs/reference/python.md from the signatures and docstrings of the public names.

python -m tests.config.python_reference    writes them into the page

The meaning of a name is the first paragraph of its docstring. A field of a class has its docstring below it.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final

import foliot
from foliot import cron, errors, testing
from foliot.app.hooks import HookRegistry
from foliot.app.map_run import MapRun
from foliot.app.public_methods import PUBLIC_METHODS
from foliot.app.registry import Registry
from foliot.client import AsyncClient, Client
from foliot.client.options import ConnectionOptions
from foliot.client.resources.jobs import AsyncJobs
from foliot.client.resources.runs import AsyncRuns
from foliot.client.resources.schedules import AsyncSchedules
from foliot.client.resources.server import AsyncAudit, AsyncServer, AsyncTokens
from foliot.client.resources.workflows import AsyncExecutions, AsyncWorkflows
from foliot.domain.fanout.result import ItemResult
from foliot.domain.workflow.builder import StepBuilder
from foliot.service.commands.jobs import JobService
from foliot.service.commands.launches import LaunchService
from foliot.service.commands.runs import RunService
from foliot.service.commands.schedules import ScheduleService
from foliot.service.commands.workflows import WorkflowService
from tests.config.reference import PYTHON_PAGE, written

INTERNAL: Final[Mapping[type, frozenset[str]]] = {
    foliot.Foliot: frozenset({"functions", "has_own_launcher"}),
    foliot.Context: frozenset({"planned", "read_results", "report", "tick", "write"}),
    foliot.Workflow: frozenset({"spec"}),
    cron.Cron: frozenset({"remember"}),
    testing.VirtualClock: frozenset({"next_alarm", "wait", "waiting"}),
}
"""Class -> names without an underscore that are for other modules of Foliot. They are not in the reference."""

DECLARING: Final = (Registry, HookRegistry)
"""The methods of `Foliot` from these classes declare something; all others use the storage."""


# -- the members of a class


def members(owner: type) -> list[str]:
    """Return the public fields, properties and methods of a class, as written, those of its base classes first."""
    homes = [home for home in reversed(owner.__mro__) if home.__module__.startswith("foliot.")]
    found = dict.fromkeys(name for home in homes for name in (*annotations(home), *vars(home)))
    internal = INTERNAL.get(owner, frozenset())
    public = PUBLIC_METHODS.get(owner, found)
    return [name for name in found if is_public(name) and name not in internal and name in public]


def annotations(owner: type) -> Iterable[str]:
    return () if issubclass(owner, Exception) else inspect.get_annotations(owner)


def is_public(name: str) -> bool:
    return not name.startswith("_")


def is_declaring(name: str) -> bool:
    return any(name in vars(home) for home in DECLARING)


def is_map(name: str) -> bool:
    return name.endswith("map")


def is_other(name: str) -> bool:
    return not is_declaring(name) and not is_map(name)


# -- what the page says about a name


def meaning(name: str, value: object) -> str:
    """Return the first paragraph of a docstring, in one line. A class does not inherit the docstring of its base."""
    own = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
    doc = inspect.cleandoc(own or "")
    return checked(name, " ".join(doc.partition("\n\n")[0].split()))


def checked(name: str, doc: str) -> str:
    assert re.fullmatch(r"[A-Z`\"].*[.:`]", doc), f"{name} needs a docstring that begins with a sentence, not {doc!r}"
    return doc.replace("|", r"\|")


def field_docs(owner: type) -> dict[str, str]:
    """Return the docstrings below the fields of a class and of its base classes."""
    docs: dict[str, str] = {}
    for home in (home for home in owner.__mro__ if home.__module__.startswith("foliot.")):
        body = ast.parse(textwrap.dedent(inspect.getsource(home))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, doc in zip(body.body, body.body[1:], strict=False):
            match field, doc:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    docs.setdefault(name, " ".join(text.split()))
    return docs


def call(name: str, function: Callable[..., Any]) -> str:
    """Return how a function is called: `await app.runs.page(*, job=None, limit=100)`."""
    if inspect.iscoroutinefunction(function):
        return f"await {name}{signature(function)}"
    return f"{'async for ... in ' if inspect.isasyncgenfunction(function) else ''}{name}{signature(function)}"


def signature(function: Callable[..., Any]) -> str:
    """Return the parameters without types and without `self`."""
    given = inspect.signature(function)
    plain = [
        parameter.replace(annotation=parameter.empty, default=default(parameter))
        for name, parameter in given.parameters.items()
        if name not in ("self", "cls")
    ]
    return str(given.replace(parameters=plain, return_annotation=inspect.Signature.empty))


class Written(str):
    """Text that a signature shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def default(parameter: inspect.Parameter) -> object:
    """Return the default as it would be written, or `...` if it is not a short plain value."""
    value = parameter.default
    if value is parameter.empty or value is None or isinstance(value, bool) or value == ():
        return value
    if isinstance(value, str):
        return Written(f'"{value}"')
    return value if isinstance(value, int) and value < 1_000_000 else Written("...")


def row(name: str, value: object) -> str:
    usage = call(name, value) if inspect.isroutine(value) else name
    return f"| `{usage}` | {meaning(name, value)} |\n"


def rows_of(owner: type, prefix: str, only: Callable[[str], bool] = is_public) -> Iterator[str]:
    """Yield a row for each public member of a class that `only` accepts."""
    docs = field_docs(owner)
    for name in filter(only, members(owner)):
        if name in docs:
            yield f"| `{prefix}{name}` | {checked(f'{owner.__name__}.{name}', docs[name])} |\n"
        else:
            yield row(f"{prefix}{name}", inspect.getattr_static(owner, name, None))


def constructor(name: str, owner: type) -> str:
    return f"| `{name}{signature(owner)}` | {meaning(name, owner)} |\n"


# -- tables


def table(*rows: Iterable[str]) -> str:
    return "| Name | Meaning |\n|---|---|\n" + "".join(row for part in rows for row in part)


def names_of(module: ModuleType) -> list[str]:
    return [name for name in module.__all__ if is_public(name)]


def package() -> str:
    """Return the table of the names of the package."""
    return table(f"| `foliot.{name}` | {meaning(name, getattr(foliot, name))} |\n" for name in names_of(foliot))


def error_table() -> str:
    """Return the table of all errors, each with its code."""
    kinds = [getattr(errors, name) for name in names_of(errors)]
    rows = (
        f"| `{kind.__name__}` | `{kind.code}` | {meaning(kind.__name__, kind)} |\n"
        for kind in sorted((kind for kind in kinds if is_error(kind)), key=lambda kind: kind.__name__)
    )
    return "| Error | Code | Meaning |\n|---|---|---|\n" + "".join(rows)


def is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, foliot.FoliotError)


def error_parts() -> str:
    """Return the table of what `foliot.errors` has besides errors."""
    values = ((name, getattr(errors, name)) for name in names_of(errors))
    return table(row(f"errors.{name}", value) for name, value in values if not is_error(value))


def cron_table() -> str:
    values = ((name, getattr(cron, name)) for name in names_of(cron))
    rows = (row(f"cron.{name}", value) for name, value in values if inspect.isfunction(inspect.unwrap(value)))
    return table(rows, rows_of(cron.Cron, "Cron."))


def testing_table() -> str:
    kinds = ((name, getattr(testing, name)) for name in names_of(testing))
    return table(*([constructor(name, kind), *rows_of(kind, f"{name}.")] for name, kind in kinds))


def workflow_table() -> str:
    return table(
        [constructor("Workflow", foliot.Workflow)],
        rows_of(foliot.Workflow, "Workflow."),
        [f"| `StepBuilder` | {meaning('StepBuilder', StepBuilder)} |\n"],
        rows_of(StepBuilder, "StepBuilder."),
    )


def client_table() -> str:
    resources = {
        "jobs": AsyncJobs, "schedules": AsyncSchedules, "runs": AsyncRuns, "workflows": AsyncWorkflows,
        "executions": AsyncExecutions, "tokens": AsyncTokens, "audit": AsyncAudit, "server": AsyncServer,
    }  # fmt: skip
    return table(
        [constructor("AsyncClient", AsyncClient), constructor("Client", Client)],
        rows_of(AsyncClient, "client."),
        *(rows_of(kind, f"client.{name}.") for name, kind in resources.items()),
    )


def wanted() -> dict[str, str]:
    """Return heading -> the table below it."""
    return {
        "Public names": package(),
        "Declare": table(rows_of(foliot.Foliot, "app.", is_declaring)),
        "Open, enqueue and wait": table(
            [constructor("Foliot", foliot.Foliot)],
            rows_of(foliot.Foliot, "app.", is_other),
        ),
        "Map": table(rows_of(foliot.Foliot, "app.", is_map), rows_of(MapRun, "app.map(...).")),
        "Results of a map": table(rows_of(ItemResult, "")),
        "Runs": table(rows_of(RunService, "app.runs.")),
        "Jobs": table(rows_of(JobService, "app.jobs.")),
        "Schedules": table(rows_of(ScheduleService, "app.schedules.")),
        "Workflows": table(rows_of(WorkflowService, "app.workflows.")),
        "Build a workflow": workflow_table(),
        "A launcher of your own": table(
            rows_of(foliot.RunLauncher, "RunLauncher."), rows_of(LaunchService, "app.launches.")
        ),
        "Inside a run": table([row("current_run", foliot.current_run)], rows_of(foliot.Context, "current_run().")),
        "`RunView`": table(rows_of(foliot.RunView, "")),
        "`ExecutionView`": table(rows_of(foliot.ExecutionView, "")),
        "`StepView`": table(rows_of(foliot.StepView, "")),
        "Cron expressions": cron_table(),
        "Client": client_table(),
        "Options of a client": table(rows_of(ConnectionOptions, "")),
        "Tests of applications": testing_table(),
        "Errors": error_table(),
        "Parts of errors": error_parts(),
    }


if __name__ == "__main__":
    PYTHON_PAGE.write_text(written(PYTHON_PAGE.read_text(), wanted()))
