"""The examples of the documentation run, its links work, and its tables are complete."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from foliot import Foliot
from tests.architecture.examples import find_examples, run_examples
from tests.cases import for_each

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")


@pytest.mark.parametrize("page", PAGES)
def test_every_example_of_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))  # as a shell does
    monkeypatch.syspath_prepend(tmp_path)

    run_examples(find_examples(page, (ROOT / page).read_text()), tmp_path)


@for_each("page", PAGES)
def test_every_link_of_the_page_has_a_target(page: str) -> None:
    here = (ROOT / page).parent
    links = {found["path"] for found in LINK.finditer((ROOT / page).read_text()) if found["path"]}

    assert [link for link in sorted(links) if not (here / link).exists()] == []


def test_every_page_is_linked() -> None:
    linked = {
        ((ROOT / page).parent / found["path"]).resolve()
        for page in PAGES
        for found in LINK.finditer((ROOT / page).read_text())
    }

    assert [page for page in PAGES if page != "README.md" and ROOT / page not in linked] == []


@for_each("page", PAGES)
def test_every_method_of_the_library_that_a_page_names_exists(page: str) -> None:
    named = set(re.findall(r"\bapp\.(?!py\b)(\w+)(?:\.(\w+))?", (ROOT / page).read_text()))

    assert [".".join(name) for name in sorted(named) if not is_method(*name)] == []


def is_method(name: str, verb: str) -> bool:
    found = getattr(Foliot(), name, None)
    return found is not None and (not verb or hasattr(found, verb))


@pytest.mark.proves("Z53")
def test_every_dependency_is_documented() -> None:
    rows = re.findall(r"^\| `([^`]+)`", (ROOT / "docs/design/dependencies.md").read_text(), re.MULTILINE)

    assert declared_dependencies() == set(rows)


def declared_dependencies() -> set[str]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = pyproject["project"]
    wishes = [*pyproject["build-system"]["requires"], *project["dependencies"]]
    wishes += [wish for extra in project["optional-dependencies"].values() for wish in extra]
    ui = json.loads((ROOT / "ui/package.json").read_text())
    packages = {*ui["dependencies"], *ui["devDependencies"]}
    return packages | {re.split(r"[^\w.-]", wish, maxsplit=1)[0] for wish in wishes} - {project["name"]}
