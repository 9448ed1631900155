"""Reading the configuration of a command, and printing its problems."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from foliot.config import Configuration, Loaded, Problem, ServerSettings, load
from foliot.config.places import find_definition
from foliot.domain.defaults import DEFAULT_PORT
from foliot.domain.instant import Instant
from foliot.errors import FoliotError, NotFound
from foliot.interfaces.cli.options import find_config
from foliot.interfaces.cli.output import print_problem
from foliot.interfaces.cli.render.text import counted


def read_config(path: Path) -> Loaded:
    """Return the configuration and its problems."""
    return load(path, os.environ, Instant(time.time_ns() // 1_000_000))


def load_config(path: Path) -> Configuration:
    """Return the configuration and print its warnings. If it has errors, print all problems and raise."""
    loaded = read_config(path)
    configuration = require_valid(path, loaded)
    print_problems(loaded.warnings)
    return configuration


def require_valid(path: Path | None, loaded: Loaded, *, hint: str = "Nothing was changed.") -> Configuration:
    """Return the configuration that was read. If it has errors, print all problems and raise."""
    if loaded.configuration is None:
        print_problems(loaded.problems)
        raise FoliotError(f"{path} has {counted(len(loaded.errors), 'error')}", hint=hint)
    return loaded.configuration


def storage_of(path: Path) -> str:
    """Return the storage that the configuration names. Errors elsewhere in the file are ignored."""
    loaded = read_config(path)
    errors = [problem for problem in loaded.errors if loaded.storage is None or problem.key.startswith("storage")]
    if errors or loaded.storage is None:
        print_problems(errors)
        raise FoliotError(f"{path} does not name a valid storage", hint="Correct it, or name one with --storage.")
    return loaded.storage


def server_of(path: Path | None) -> str:
    """Return the URL of the server of a configuration: its public one, or where it listens. Without a valid
    configuration: where a server listens by default."""
    found = None if path is None else read_config(path).configuration
    own = ServerSettings() if found is None else found.server
    if own.public_url:
        return own.public_url.rstrip("/")
    scheme = "https" if own.tls_cert else "http"
    host = f"[{own.host}]" if ":" in own.host else own.host
    return f"{scheme}://{host}:{own.port or DEFAULT_PORT}{own.base_path}"


def count_definitions(*, jobs: int, workflows: int, schedules: int, chains: int = 0) -> str:
    """Return for example `2 jobs, 1 workflow, 3 schedules`; without workflows and chains if there are none."""
    some = [counted(number, word) for number, word in ((workflows, "workflow"), (chains, "chain")) if number]
    return ", ".join([counted(jobs, "job"), *some, counted(schedules, "schedule")])


def mention_file(error: NotFound, config: Path | None) -> None:
    """Say in the hint that the configuration has a job or workflow that is not stored, if it has."""
    path = find_config(config) if error.kind in ("job", "workflow") else None
    place = None if path is None else find_definition(path, os.environ, error.name)
    if place is not None:
        error.hint = f"{place} has it, but it is not applied. See: foliot check; then: foliot reload"


def print_problems(problems: Iterable[Problem]) -> None:
    for problem in problems:
        key = f"{problem.key}: " if problem.key else ""
        facts = {"code": "configuration_problem", "place": str(problem.place)}
        print_problem(problem.severity, key + problem.message, problem.hint, **facts)
