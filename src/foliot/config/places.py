"""Finds where a job, a schedule, a workflow or a class of chains is written in a configuration."""

from collections.abc import Mapping
from pathlib import Path

from foliot.config.files import find_files, sections


def find_definition(path: Path, environ: Mapping[str, str], name: str) -> str | None:
    """Return the file, relative to the directory of the configuration, and the line of a definition: `jobs.toml:12`.

    A schedule is found by the job or workflow that it belongs to, a step by its workflow.
    """
    documents = find_files(path, environ).documents
    wanted = (name, name.rpartition(":")[0], name.partition(".")[0])
    for kind in ("jobs", "workflows", "chains"):
        for tables in sections(documents, kind):
            if not isinstance(tables.value, list):
                continue
            for node in tables.children():
                if isinstance(node.value, dict) and node.value.get("id") in wanted:
                    place = node.place
                    return f"{_relative(Path(place.file), path)}:{place.line}"
    return None


def _relative(file: Path, path: Path) -> Path:
    try:
        return file.absolute().relative_to(path.absolute().parent)
    except ValueError:
        return Path(file.name)
