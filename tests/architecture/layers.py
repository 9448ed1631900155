"""The layers of docs/design/architecture.md, as rules about imports.

Each rule is a function from the tree to its faults. A fault names the module, the line and what is wrong.
"""

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Final

from tests.architecture.imports import Module, Tree, called

FOUNDATION: Final = frozenset({"domain", "errors"})
MIDDLE: Final = frozenset({"service", "engine", "config", "ports"}) | FOUNDATION

MAY_IMPORT: Final[Mapping[str, frozenset[str]]] = {
    "errors": frozenset({"errors"}),
    "domain": FOUNDATION,
    "ports": FOUNDATION | {"ports"},
    "channel": FOUNDATION | {"channel"},
    "service": FOUNDATION | {"ports", "service"},
    "engine": FOUNDATION | {"ports", "engine"},
    "adapters": FOUNDATION | {"ports", "channel", "adapters"},
    "config": FOUNDATION | {"config"},
    "wiring": MIDDLE | {"adapters", "wiring"},
    "face": MIDDLE | {"wiring", "face", "client"},
    "client": FOUNDATION | {"service", "client"},
    "interfaces": MIDDLE | {"channel", "wiring", "face", "interfaces", "client", "demo"},
    "__main__": frozenset({"interfaces"}),
    "demo": MIDDLE | {"adapters", "wiring", "face", "testing", "demo"},
    "testing": MIDDLE | {"channel", "adapters", "wiring", "face", "interfaces", "testing"},
}
"""Layer -> the layers it may import. Only wiring, testing and demo import adapters, and only demo imports testing."""

NOT_FOR_INTERFACES: Final = frozenset({"ports", "engine", "adapters", "wiring", "client", "demo"})
_CLI: Final = "foliot.interfaces.cli"
INTERFACE_EXCEPTIONS: Final[Mapping[str, frozenset[str]]] = {
    # One module opens the storage for all commands, or connects to a server.
    f"{_CLI}.open_storage": frozenset({"wiring", "client"}),
    # serve and worker compose a process out of a node and its settings.
    f"{_CLI}.server.process": frozenset({"wiring", "engine"}),
    f"{_CLI}.server.settings": frozenset({"wiring", "engine", "ports"}),
    f"{_CLI}.server.banner": frozenset({"engine"}),
    # The API of a process checks signed tokens by the keys of its configuration.
    f"{_CLI}.server.api": frozenset({"wiring"}),
    f"{_CLI}.server.remote": frozenset({"wiring", "engine"}),
    f"{_CLI}.commands.worker": frozenset({"engine"}),
    # demo makes a history before it serves.
    f"{_CLI}.commands.demo": frozenset({"demo"}),
    # doctor examines the machine, also if there is no storage.
    f"{_CLI}.commands.doctor": frozenset({"wiring"}),
}
"""Module -> the inner layers it may import as an exception."""

_WORKER: Final = "foliot.engine.worker"
WORKER_MAY_IMPORT: Final = (
    *("foliot.ports.work", "foliot.ports.runner", "foliot.ports.queue", "foliot.ports.clock", "foliot.ports.topic"),
    *(
        "foliot.ports.channel",
        "foliot.engine.loop",
        "foliot.engine.deadline",
        "foliot.engine.failures",
        "foliot.engine.log_rate",
        "foliot.errors",
        "foliot.domain",
        _WORKER,
    ),
)
"""A worker uses only `ports.work`, so that it can run on another machine than the storage."""

TEST_KIND: Final = "window"
"""The kind of tree in tests/engine/window_kind.py: the product runs it without naming it."""

FACES: Final = frozenset({"", "app", "cron"})
"""The modules directly in the package that users import; the empty name is the package itself."""

IMPURE: Final = frozenset(
    {"asyncio", "concurrent", "ctypes", "fcntl", "http", "logging", "multiprocessing", "os", "pathlib"}
    | {"random", "secrets", "select", "selectors", "shutil", "signal", "socket", "sqlite3", "ssl"}
    | {"subprocess", "tempfile", "threading", "time", "urllib"}
)

PURE_MODULES: Final = frozenset({"urllib.parse"})
"""Modules without I/O in packages that have some."""

PURE_PACKAGES: Final = frozenset({"foliot", "msgspec", "tzdata"})
"""Packages that domain may use besides the standard library: value types and zone data, without I/O."""

IMPURE_CALLS: Final = frozenset({"open", "print", "input", "eval", "exec", "uuid1", "uuid4"})
CLOCK_READERS: Final = frozenset({"now", "utcnow", "today"})

ADAPTER_KINDS: Final[Mapping[str, frozenset[str]]] = {
    "storage": frozenset({"sqlite", "postgres"}),
    "queue": frozenset({"memory", "storage", "nats", "redis"}),
    "runners": frozenset({"shell", "http", "python", "agent"}),
    "resolvers": frozenset({"file", "http", "sql", "job"}),
}
"""Port -> its adapters, which do not import each other. Other modules beside them are shared."""

DRIVER_HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "apsw": ("adapters sqlite",),
    "asyncpg": ("adapters postgres",),
    "aiohttp": ("adapters outbound", "adapters work_http", "client http"),
    "yarl": ("adapters outbound", "adapters work_http", "client http"),
    "argon2": ("adapters passwords",),
    "jwt": ("adapters jwt",),
    "nats": ("adapters nats",),
    "redis": ("adapters redis",),
    "hiredis": ("adapters redis",),
    "uvloop": ("interfaces cli",),
    "starlette": ("interfaces api", "interfaces web"),
    "uvicorn": ("interfaces api",),
    "httptools": ("interfaces api",),
    "prometheus_client": ("interfaces api",),
    "click": ("interfaces cli",),
    "rich": ("interfaces cli",),
}
"""Package -> its homes: words that the dotted name of each module importing it must contain."""


@dataclass(frozen=True)
class Fault:
    module: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.what}"


def forbidden_imports(tree: Tree) -> Iterator[Fault]:
    """Yield imports from a layer that it must not import."""
    for module, target, line in inner_imports(tree):
        here, there = layer(module.name), layer(target)
        if there not in MAY_IMPORT.get(here, frozenset()):
            yield Fault(module.name, line, f"{here} must not import {there} ({target})")


def stray_interfaces(tree: Tree) -> Iterator[Fault]:
    """Yield interfaces that import more than services, values and errors."""
    for module, target, line in inner_imports(tree):
        allowed = INTERFACE_EXCEPTIONS.get(module.name, frozenset())
        if layer(module.name) == "interfaces" and layer(target) in NOT_FOR_INTERFACES - allowed:
            yield Fault(module.name, line, f"an interface must not import {layer(target)} ({target})")


def storage_in_interfaces(tree: Tree) -> Iterator[Fault]:
    """Yield interfaces that use the storage of the services."""
    for module in tree.values():
        if layer(module.name) != "interfaces":
            continue
        for node in ast.walk(module.syntax):
            match node:
                case ast.Attribute(value=ast.Name(id="services"), attr="storage"):
                    yield Fault(module.name, node.lineno, "an interface must not use the storage")


def worker_imports(tree: Tree) -> Iterator[Fault]:
    """Yield modules of the worker that import more than it needs to execute runs."""
    for module, target, line in inner_imports(tree):
        if is_below(module.name, _WORKER) and not any(is_below(target, known) for known in WORKER_MAY_IMPORT):
            yield Fault(module.name, line, f"a worker must not import {target}")


def tests_in_product(tree: Tree) -> Iterator[Fault]:
    """Yield modules that import tests, or name the kind of tree that only tests have."""
    for module in tree.values():
        for found in module.imports:
            if top(found.target) == "tests":
                yield Fault(module.name, found.line, f"the product must not import {found.target}")
        for node in ast.walk(module.syntax):
            if names_test_kind(node):
                yield Fault(
                    module.name, getattr(node, "lineno", 1), f'the product must not name the kind "{TEST_KIND}"'
                )


def names_test_kind(node: ast.AST) -> bool:
    """Whether the node is `kind="window"` as an argument, or `x.kind == "window"`."""
    match node:
        case ast.keyword(arg="kind", value=ast.Constant(value=value)):
            return value == TEST_KIND
        case ast.Compare(left=ast.Attribute(attr="kind") | ast.Name(id="kind"), comparators=compared):
            return any(isinstance(one, ast.Constant) and one.value == TEST_KIND for one in compared)
    return False


def modules_without_layer(tree: Tree) -> Iterator[Fault]:
    """Yield modules that belong to no layer."""
    for module in tree.values():
        if layer(module.name) not in MAY_IMPORT:
            yield Fault(module.name, 1, "belongs to no layer")


def mixed_adapters(tree: Tree) -> Iterator[Fault]:
    """Yield adapters that import another adapter, and shared code that imports a particular adapter."""
    for module, target, line in inner_imports(tree):
        if layer(module.name) != "adapters" or layer(target) != "adapters":
            continue
        port, kind = adapter_home(module.name)
        if adapter_home(target) not in {(port, kind), (port, ""), ("", "")}:
            yield Fault(module.name, line, f"an adapter must not import another one ({target})")


def cycles(tree: Tree) -> Iterator[Fault]:
    """Yield cycles of modules, including imports in functions and behind TYPE_CHECKING.

    Packages are left out: an __init__ that only re-exports its own modules is a facade, not a need.
    """
    modules = {name for name, module in tree.items() if not module.is_package}
    graph = {name: {found.target for found in tree[name].imports} & modules for name in modules}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        yield Fault(circle[0], 1, "import cycle: " + " <- ".join(circle))


def stray_drivers(tree: Tree) -> Iterator[Fault]:
    """Yield drivers that are imported outside their adapter."""
    for module in tree.values():
        words = module.name.split(".")
        for found in module.imports:
            homes = DRIVER_HOMES.get(top(found.target), ("",))
            if not any(set(home.split()) <= set(words) for home in homes):
                yield Fault(module.name, found.line, f"{top(found.target)} belongs to {' or '.join(homes)}")


def impure_domain(tree: Tree) -> Iterator[Fault]:
    """Yield I/O, clocks, randomness and third-party packages inside domain."""
    for module in tree.values():
        if layer(module.name) != "domain":
            continue
        for found in module.imports:
            name = top(found.target)
            is_pure = found.target.startswith(tuple(PURE_MODULES)) or name in PURE_PACKAGES
            if not is_pure and name not in sys.stdlib_module_names - IMPURE:
                yield Fault(module.name, found.line, f"domain must not import {name}")
        yield from impure_calls(module)


def impure_calls(module: Module) -> Iterator[Fault]:
    for node in ast.walk(module.syntax):
        match node:
            case ast.Call() if called(node) in IMPURE_CALLS:
                yield Fault(module.name, node.lineno, f"domain must not call {called(node)}")
            case ast.Attribute(
                value=ast.Name(id="datetime" | "date") | ast.Attribute(attr="datetime" | "date"), attr=name
            ) if name in CLOCK_READERS:
                yield Fault(module.name, node.lineno, f"domain must not read the clock ({name})")


RULES: Final[tuple[Callable[[Tree], Iterator[Fault]], ...]] = (
    forbidden_imports,
    stray_interfaces,
    storage_in_interfaces,
    worker_imports,
    tests_in_product,
    modules_without_layer,
    mixed_adapters,
    cycles,
    stray_drivers,
    impure_domain,
)


def inner_imports(tree: Tree) -> Iterator[tuple[Module, str, int]]:
    for module in tree.values():
        for found in module.imports:
            if top(found.target) == "foliot":
                yield module, found.target, found.line


def is_below(name: str, package: str) -> bool:
    """Whether a module is that package, or inside it."""
    return f"{name}.".startswith(f"{package}.")


def layer(name: str) -> str:
    """Return the layer of a dotted module name; another module directly in the package is its own layer."""
    first = [*name.split("."), ""][1]
    return "face" if first in FACES else first


def adapter_home(name: str) -> tuple[str, str]:
    """Return (port, kind) of an adapter module; without a kind for code shared by a port, without a port for all."""
    port, kind = [*name.split("."), "", ""][2:4]
    if port not in ADAPTER_KINDS:
        return "", ""
    return port, kind if kind in ADAPTER_KINDS[port] else ""


def top(name: str) -> str:
    return name.partition(".")[0]
