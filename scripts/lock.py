"""Writes requirements/*.txt: every package with its version and the hashes of its files.

    pyproject.toml --pip resolves--> versions --package index--> hashes of all files of these versions

pip resolves for the Python that runs this; the hashes cover every platform the packages were built for.
Use it with the oldest Python we support, which needs the most packages.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = {"dev": "[dev]", "run": "", "bench": "[bench]"}
"""File to write -> extra of the project. Versions of earlier files are used in later ones."""

HEADER = "# Written by scripts/lock from pyproject.toml. Do not edit.\n"


def main() -> None:
    decided: dict[str, str] = {}
    for name, extra in EXTRAS.items():
        pins = resolve(extra, decided)
        decided |= pins
        target = ROOT / "requirements" / f"{name}.txt"
        target.write_text(HEADER + "".join(locked_lines(pins)))
        print(f"{target.relative_to(ROOT)}: {len(pins)} packages")


def resolve(extra: str, decided: Mapping[str, str]) -> dict[str, str]:
    """Return the versions that pip would install for the project with `extra` and for building it."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    hook = pyproject["tool"]["hatch"]["build"]["hooks"]["custom"]
    with tempfile.TemporaryDirectory() as scratch:
        constraints = Path(scratch, "constraints.txt")
        constraints.write_text("".join(f"{name}=={version}\n" for name, version in decided.items()))
        report = Path(scratch, "report.json")
        pip(
            "install", "--dry-run", "--ignore-installed", "--quiet",
            "--report", str(report), "--constraint", str(constraints),
            f"{ROOT}{extra}", *pyproject["build-system"]["requires"], hook["node"],
        )  # fmt: skip
        installs = json.loads(report.read_text())["install"]
    return dict(sorted(pin_of(install) for install in installs if "dir_info" not in install["download_info"]))


def pin_of(install: Mapping[str, Any]) -> tuple[str, str]:
    metadata = install["metadata"]
    return re.sub(r"[-_.]+", "-", metadata["name"]).lower(), metadata["version"]


def locked_lines(pins: Mapping[str, str]) -> Iterable[str]:
    for name, version in pins.items():
        hashes = sorted(hashes_of(name, version))
        if not hashes:
            sys.exit(f"the package index lists no hashed file of {name} {version}")
        yield f"{name}=={version}" + "".join(f" \\\n    --hash=sha256:{digest}" for digest in hashes) + "\n"


@cache
def hashes_of(name: str, version: str) -> set[str]:
    request = Request(f"{index_url()}/{name}/", headers={"Accept": "text/html"})
    with urlopen(request, timeout=60) as answer:
        page = answer.read().decode()
    links = re.findall(r'href="[^"]*?([^/"#]+)#sha256=([0-9a-f]{64})', page)
    return {digest for filename, digest in links if is_file_of(filename, version)}


def is_file_of(filename: str, version: str) -> bool:
    if filename.endswith(".whl"):
        return filename.split("-")[1] == version
    return bool(re.fullmatch(rf".+-{re.escape(version)}\.(tar\.gz|zip)", filename))


@cache
def index_url() -> str:
    """Return the index that pip is configured to use. Its help is the only public interface that shows it."""
    found = re.search(r"--index-url.*?\(default\s+(\S+?)\)", pip("download", "--help"), re.DOTALL)
    assert found, "the help of pip no longer shows its index"
    return found[1].rstrip("/")


def pip(*arguments: str) -> str:
    command = [sys.executable, "-m", "pip", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
