"""The source keeps the rules of the layers, and each rule can fail."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.architecture import layers
from tests.architecture.imports import Tree, read_tree

SOURCE = Path(__file__).parents[2] / "src"
Rule = Callable[[Tree], Iterator[layers.Fault]]


@pytest.fixture(scope="module")
def source_tree() -> Tree:
    return read_tree(SOURCE)


@pytest.mark.proves("R4-09")
@pytest.mark.parametrize("rule", layers.RULES, ids=lambda rule: rule.__name__)
def test_the_source_keeps_the_rule(rule: Rule, source_tree: Tree) -> None:
    assert [str(fault) for fault in rule(source_tree)] == []


FORBIDDEN_IMPORTS = {
    "domain/run/run.py": ("from foliot.ports import storage", "domain must not import ports (foliot.ports)"),
    "ports/storage.py": ("import foliot.engine.loop", "ports must not import engine (foliot.engine.loop)"),
    "engine/loop.py": (
        "def go():\n    from foliot.adapters import clock",
        "engine must not import adapters (foliot.adapters)",
    ),
    "service/views.py": ("from ..engine import loop", "service must not import engine (foliot.engine)"),
    "adapters/clock.py": (
        "from foliot.config import load",
        "adapters must not import config (foliot.config)",
    ),
    "config/load.py": ("from foliot.ports import clock", "config must not import ports (foliot.ports)"),
    "interfaces/cli/main.py": (
        "from importlib import import_module\nimport_module('foliot.adapters.clock')",
        "interfaces must not import adapters (foliot.adapters.clock)",
    ),
    "wiring.py": ("from foliot.app import Foliot", "wiring must not import face (foliot.app)"),
    "app.py": ("import foliot.testing.clock", "face must not import testing (foliot.testing.clock)"),
    "errors.py": ("from foliot.domain import ids", "errors must not import domain (foliot.domain)"),
    "engine/scheduler.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from foliot.service.views import View",
        "engine must not import service (foliot.service.views)",
    ),
}


@pytest.mark.parametrize("path", FORBIDDEN_IMPORTS)
def test_a_forbidden_import_is_detected(path: str, tmp_path: Path) -> None:
    source, complaint = FORBIDDEN_IMPORTS[path]
    tree = write_package(tmp_path, {path: source})

    faults = list(layers.forbidden_imports(tree))

    assert [fault.what for fault in faults] == [complaint]


@pytest.mark.parametrize("path", ["interfaces/cli/main.py", "testing/inline.py", "app.py"])
def test_interfaces_and_app_may_import_the_wiring(path: str, tmp_path: Path) -> None:
    tree = write_package(tmp_path, {path: "from foliot import wiring", "wiring.py": "import foliot.adapters.clock"})

    assert list(layers.forbidden_imports(tree)) == []


@pytest.mark.parametrize("target", ["ports.storage", "engine.node", "adapters.clock", "wiring"])
def test_a_command_that_imports_an_inner_layer_is_detected(target: str, tmp_path: Path) -> None:
    tree = write_package(tmp_path, {"interfaces/cli/commands/control.py": f"import foliot.{target}"})

    assert [fault.what for fault in layers.stray_interfaces(tree)] == [
        f"an interface must not import {target.partition('.')[0]} (foliot.{target})"
    ]


def test_only_the_listed_modules_open_the_storage_and_build_nodes(tmp_path: Path) -> None:
    tree = write_package(
        tmp_path,
        {
            "interfaces/cli/open_storage.py": "import foliot.wiring",
            "interfaces/cli/server/process.py": "import foliot.wiring, foliot.engine.node",
            "interfaces/cli/commands/top.py": "import foliot.service.services, foliot.domain.run.run, foliot.errors",
        },
    )

    assert list(layers.stray_interfaces(tree)) == []


def test_every_exception_for_an_interface_is_used(source_tree: Tree) -> None:
    used = {
        (module.name, layers.layer(target))
        for module, target, _ in layers.inner_imports(source_tree)
        if module.name in layers.INTERFACE_EXCEPTIONS
    }

    allowed = {(name, one) for name, all_of in layers.INTERFACE_EXCEPTIONS.items() for one in all_of}
    assert allowed - used == set()


def test_an_interface_that_uses_the_storage_is_detected(tmp_path: Path) -> None:
    tree = write_package(
        tmp_path,
        {
            "interfaces/cli/commands/show.py": "async def f(services):\n    await services.storage.queries.runs()",
            "service/runs.py": "async def f(services):\n    await services.storage.queries.runs()",
        },
    )

    assert [fault.module for fault in layers.storage_in_interfaces(tree)] == ["foliot.interfaces.cli.commands.show"]


@pytest.mark.parametrize("target", ["ports.storage", "ports.trees", "engine.settings", "engine.coordinator.starter"])
def test_a_worker_that_imports_more_than_its_port_is_detected(target: str, tmp_path: Path) -> None:
    tree = write_package(
        tmp_path,
        {
            "engine/worker/consumer.py": f"import foliot.{target}",
            "engine/worker/role.py": "import foliot.ports.work, foliot.engine.worker.consumer, foliot.domain.run.run",
            "engine/workers.py": f"import foliot.{target}",
        },
    )

    faults = list(layers.worker_imports(tree))

    assert [str(fault) for fault in faults] == [
        f"foliot.engine.worker.consumer:1: a worker must not import foliot.{target}"
    ]


@pytest.mark.parametrize(
    "source", ["from tests.engine import window_kind", 'JobSpec(kind="window")', 'x = tree.kind == "window"']
)
def test_a_product_module_that_names_the_kind_of_the_tests_is_detected(source: str, tmp_path: Path) -> None:
    tree = write_package(tmp_path, {"engine/node.py": source, "domain/run/run.py": 'scope = "window"'})

    assert [fault.module for fault in layers.tests_in_product(tree)] == ["foliot.engine.node"]


def test_no_query_names_the_kind_of_the_tests() -> None:
    queries = {str(path): path.read_text() for path in SOURCE.rglob("*.sql")}

    assert queries
    assert [path for path, text in queries.items() if re.search(rf"kind\b[^\n]*'{layers.TEST_KIND}'", text)] == []


def test_a_module_without_a_layer_is_detected(tmp_path: Path) -> None:
    tree = write_package(tmp_path, {"utils.py": "", "domain/run/run.py": "", "app.py": ""})

    assert [fault.module for fault in layers.modules_without_layer(tree)] == ["foliot.utils"]


def test_an_adapter_that_imports_another_is_detected(tmp_path: Path) -> None:
    tree = write_package(
        tmp_path,
        {
            "adapters/clock.py": "",
            "adapters/storage/shared/rows.py": "from foliot.adapters.storage.sqlite import store",
            "adapters/storage/sqlite/store.py": "from foliot.adapters.storage import rows",
            "adapters/storage/postgres/store.py": "from foliot.adapters.storage.sqlite.store import f",
            "adapters/queue/polling.py": "import foliot.adapters.clock, foliot.adapters.storage.shared.rows",
        },
    )

    found = {fault.module for fault in layers.mixed_adapters(tree)}

    assert found == {
        "foliot.adapters.storage.shared.rows",
        "foliot.adapters.storage.postgres.store",
        "foliot.adapters.queue.polling",
    }


def test_a_cycle_through_an_import_in_a_function_is_detected(tmp_path: Path) -> None:
    tree = write_package(
        tmp_path,
        {
            "domain/run/run.py": "from foliot.domain.job.job import Job",
            "domain/job/job.py": "def late():\n    from foliot.domain.run import run",
        },
    )

    [fault] = layers.cycles(tree)
    circle = set(fault.what.removeprefix("import cycle: ").split(" <- "))

    assert circle == {"foliot.domain.run.run", "foliot.domain.job.job"}


def test_a_facade_is_not_a_cycle(tmp_path: Path) -> None:
    tree = write_package(
        tmp_path,
        {"domain/__init__.py": "from foliot.domain.run.run import Run", "domain/run/run.py": "import foliot.domain"},
    )

    assert list(layers.cycles(tree)) == []


def test_a_driver_outside_its_adapter_is_detected(tmp_path: Path) -> None:
    tree = write_package(
        tmp_path,
        {
            "adapters/storage/postgres/pool.py": "import asyncpg",
            "adapters/storage/sqlite/writer.py": "import apsw",
            "engine/loop.py": "def go():\n    import asyncpg.pool",
            "service/views.py": "from click import echo",
        },
    )

    found = {(fault.module, fault.what) for fault in layers.stray_drivers(tree)}

    assert found == {
        ("foliot.engine.loop", "asyncpg belongs to adapters postgres"),
        ("foliot.service.views", "click belongs to interfaces cli"),
    }


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import time", "domain must not import time"),
        ("from os import path", "domain must not import os"),
        ("import click", "domain must not import click"),
        ("from urllib.request import urlopen", "domain must not import urllib"),
        ("from urllib.parse import quote", ""),
        ("def f():\n    import asyncio", "domain must not import asyncio"),
        ("from datetime import datetime\nx = datetime.now", "domain must not read the clock (now)"),
        ("import datetime\nx = datetime.date.today()", "domain must not read the clock (today)"),
        ("from uuid import uuid4\nx = uuid4()", "domain must not call uuid4"),
        ("x = open('f')", "domain must not call open"),
        ("import hashlib, msgspec, zoneinfo, tzdata\nfrom datetime import datetime", ""),
    ],
)
def test_an_impure_domain_is_detected(source: str, complaint: str, tmp_path: Path) -> None:
    tree = write_package(tmp_path, {"domain/run/run.py": source, "engine/loop.py": source})

    assert [fault.what for fault in layers.impure_domain(tree)] == [complaint] * bool(complaint)


def write_package(root: Path, files: dict[str, str]) -> Tree:
    """Write a package named foliot with these modules and their packages."""
    for name, source in files.items():
        path = root / "foliot" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    for directory in [root / "foliot", *(root / "foliot").rglob("*")]:
        if directory.is_dir():
            (directory / "__init__.py").touch()
    return read_tree(root)
