"""The repository names no machine and no package registry."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = {".git", ".venv", ".venv-run", ".venv-bench", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}

# Built from parts, so that this file passes its own test.
FORBIDDEN = [
    "/" + "work/",
    "/" + "root/",
    "pypi" + ".org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    str(ROOT) + "/",
]


def test_no_file_names_a_machine_or_a_registry() -> None:
    texts = {path: path.read_bytes().decode(errors="replace") for path in repository_files()}
    found = [f"{path.relative_to(ROOT)}: {word}" for path, text in texts.items() for word in FORBIDDEN if word in text]

    assert len(texts) > 10
    assert found == []


@pytest.mark.parametrize("name", ["dev", "run", "bench"])
@pytest.mark.proves("Z53")
def test_every_locked_package_has_its_version_and_hashes(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    entries = text.replace("\\\n", "").splitlines()[1:]

    assert entries
    assert [line for line in entries if "==" not in line or " --hash=sha256:" not in line] == []


def test_every_script_is_executable() -> None:
    scripts = [path for path in [ROOT / ".ci/run", *(ROOT / "scripts").iterdir()] if is_command(path)]

    assert {path.name for path in scripts} == {"run", "test", "check", "bench", "lock", "requirements", "soak", "ui"}
    assert [path.name for path in scripts if not path.stat().st_mode & 0o100] == []


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("foliot", ["apsw", "asyncpg", "click", "rich"]),
        ("foliot.interfaces.cli", ["apsw", "asyncpg", "rich"]),
    ],
)
def test_importing_a_module_does_not_load_unneeded_ones(module: str, unwanted: list[str]) -> None:
    program = f"import sys, {module}; print(*sorted(sys.modules.keys() & {unwanted!r}))"

    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout

    assert loaded.split() == []


def repository_files() -> list[Path]:
    """Return the files that git tracks or would add; without git, all files except build results."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0:
        found = [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    else:
        found = [path for path in ROOT.rglob("*") if not BUILT & set(path.relative_to(ROOT).parts)]
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def is_command(path: Path) -> bool:
    return path.is_file() and path.read_text().startswith("#!")
