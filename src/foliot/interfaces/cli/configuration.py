"""Reading the configuration for a command, and telling what is wrong with it."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from foliot.config import Configuration, Loaded, Problem, load
from foliot.domain.instant import Instant
from foliot.errors import FoliotError
from foliot.interfaces.cli.speaking import remark
from foliot.interfaces.cli.text import counted


def read_config(path: Path) -> Loaded:
    return load(path, os.environ, Instant(time.time_ns() // 1_000_000))


def usable_config(path: Path) -> Configuration:
    """The configuration; what is doubtful is said. When something is wrong, all of it is said and raised."""
    loaded = read_config(path)
    configuration = sound(path, loaded)
    report(loaded.warnings)
    return configuration


def sound(path: Path | None, loaded: Loaded) -> Configuration:
    """What was read. When something is wrong in it, all of it is said, the warnings as well, and raised."""
    if loaded.configuration is None:
        report(loaded.problems)
        raise FoliotError(f"{path} has {counted(len(loaded.errors), 'error')}", hint="Nothing was changed.")
    return loaded.configuration


def storage_of(path: Path) -> str:
    """Where the configuration says the database is. What else is wrong in it is no matter here."""
    loaded = read_config(path)
    wrong = [problem for problem in loaded.errors if loaded.storage is None or problem.key.startswith("storage")]
    if wrong or loaded.storage is None:
        report(wrong)
        raise FoliotError(f"{path} does not say where the database is", hint="Correct it, or name one with --storage.")
    return loaded.storage


def contents(*, jobs: int, workflows: int, schedules: int) -> str:
    """How much a configuration defines: `2 jobs, 1 workflow, 3 schedules`. Workflows are named where there are some."""
    some = [counted(workflows, "workflow")] if workflows else []
    return ", ".join([counted(jobs, "job"), *some, counted(schedules, "schedule")])


def report(problems: Iterable[Problem]) -> None:
    for problem in problems:
        key = f"{problem.key}: " if problem.key else ""
        remark(problem.severity, key + problem.message, problem.hint, place=str(problem.place))
