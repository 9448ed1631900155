"""The sources of the web UI and their build."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import hatch_build

ROOT = Path(__file__).parents[2]
LOCK: dict[str, Any] = json.loads((ROOT / "ui/package-lock.json").read_text())
PACKAGES = {name: facts for name, facts in LOCK["packages"].items() if name}


def test_the_lock_names_no_registry() -> None:
    named = [
        name for name, facts in PACKAGES.items() if "resolved" in facts or "://" in json.dumps(without_funding(facts))
    ]

    assert named == []
    assert "omit-lockfile-registry-resolved=true" in (ROOT / "ui/.npmrc").read_text()


def without_funding(facts: dict[str, Any]) -> dict[str, Any]:
    """Leave out the pages where maintainers ask for donations."""
    return {name: value for name, value in facts.items() if name != "funding"}


def test_every_package_is_locked_with_its_digest() -> None:
    # Optional dependencies of other platforms, which are bundled in a package, have none of their own.
    without = [name for name, facts in PACKAGES.items() if "integrity" not in facts and not facts.get("inBundle")]

    assert without == []


def test_the_sources_load_nothing_from_elsewhere() -> None:
    for path in hatch_build.sources():
        if path.suffix in (".ts", ".tsx", ".css", ".html"):
            found = re.findall(r"""(?:src|href|url|import|fetch)[=("'\s]+https?://[^"')\s]+""", path.read_text())
            assert found == [], path


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with a UI that was built."""
    ui, assets = tmp_path / "ui", tmp_path / "assets"
    for folder in (*(ui / name for name in hatch_build.FOLDERS), assets):
        folder.mkdir(parents=True)
    for name in (*hatch_build.SOURCES, "src/main.tsx"):
        (ui / name).write_text(name)
    monkeypatch.setattr(hatch_build, "UI", ui)
    monkeypatch.setattr(hatch_build, "ASSETS", assets)
    monkeypatch.delenv(hatch_build.SWITCH, raising=False)
    (assets / hatch_build.DIGEST).write_text(hatch_build.digest())
    return tmp_path


def test_an_unchanged_ui_is_not_built_again(tree: Path) -> None:
    assert not hatch_build.is_wanted()


@pytest.mark.parametrize("name", ["src/main.tsx", "src/new.tsx", "package-lock.json", "index.html"])
def test_a_changed_source_is_built(tree: Path, name: str) -> None:
    (tree / "ui" / name).write_text("changed")

    assert hatch_build.is_wanted()


def test_a_changed_test_of_the_ui_changes_nothing(tree: Path) -> None:
    (tree / "ui/src/main.test.tsx").write_text("changed")

    assert not hatch_build.is_wanted()


def test_a_ui_that_was_never_built_is_built(tree: Path) -> None:
    (tree / "assets" / hatch_build.DIGEST).unlink()

    assert hatch_build.is_wanted()


def test_the_switch_skips_the_build(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "ui/index.html").write_text("changed")
    monkeypatch.setenv("FOLIOT_UI", "skip")

    assert not hatch_build.is_wanted()


def test_a_distribution_without_sources_of_the_ui_needs_no_node(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hatch_build, "UI", tree / "nothing")

    assert not hatch_build.is_wanted()
