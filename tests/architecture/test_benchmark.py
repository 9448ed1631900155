"""The benchmark itself runs by hand; these tests keep it complete, and its pages ready for its tables."""

import ast
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"
PAGE = ROOT / "docs" / "design" / "performance.md"
README = ROOT / "README.md"


def test_every_measurement_has_a_module_with_a_function_measure() -> None:
    missing = [name for name in measurements() if "measure" not in functions(module(name))]

    assert missing == []


def test_every_contender_in_the_roster_has_a_module() -> None:
    named = set(re.findall(r'module="(\w+)"', "".join(path.read_text() for path in BENCH.rglob("*.py"))))
    present = {path.stem for path in [*(BENCH / "contenders").glob("*.py"), *(BENCH / "graphile").glob("*.mjs")]}

    assert len(named) > 10
    assert named - present == set()


def test_the_page_has_a_block_for_every_measurement() -> None:
    assert {*blocks(PAGE)} == {"summary", *measurements()}


def test_the_figures_of_the_readme_are_those_of_the_page() -> None:
    assert blocks(README) == {"summary": blocks(PAGE)["summary"]}


def test_the_lock_of_the_node_packages_has_hashes_and_no_registry() -> None:
    packages = json.loads((BENCH / "graphile" / "package-lock.json").read_text())["packages"]
    locked = {name: entry for name, entry in packages.items() if name}

    assert len(locked) > 10
    assert [name for name, entry in locked.items() if "integrity" not in entry or "resolved" in entry] == []


def measurements() -> list[str]:
    return list(ast.literal_eval(constant(BENCH / "__main__.py", "MEASUREMENTS")))


def constant(path: Path, name: str) -> ast.expr:
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) == name and statement.value:
            return statement.value
    raise AssertionError(f"{path.name} has no {name}")


def module(name: str) -> Path:
    package = BENCH / name / "__init__.py"
    return package if package.exists() else BENCH / f"{name}.py"


def functions(path: Path) -> set[str]:
    return {statement.name for statement in ast.parse(path.read_text()).body if isinstance(statement, ast.FunctionDef)}


def blocks(path: Path) -> dict[str, str]:
    found = re.findall(r"<!-- bench:(\S+) -->\n(.*?)<!-- /bench:\1 -->", path.read_text(), re.DOTALL)
    return {name: body.strip() for name, body in found}
