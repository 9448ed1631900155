"""Options and arguments that several commands share, and the configuration file that they name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from foliot.errors import FoliotError, InvalidInput
from foliot.interfaces.cli.place import url_option

CONFIG: Final = "foliot.toml"
NAMING: Final = (
    "Name a run by its id, by the first or last characters of its id (at least six), by @last, or by JOB@last."
)
"""The epilog of every command with a RUN or EXECUTION argument."""

Decorated = Callable[..., Any]


def json_option(meaning: str) -> Callable[[Decorated], Decorated]:
    return click.option("--json", "as_json", is_flag=True, help=f"Print JSON: {meaning}.")


def config_option(function: Decorated) -> Decorated:
    return click.option(
        "-c",
        "--config",
        envvar="FOLIOT_CONFIG",
        type=click.Path(path_type=Path),
        help=f"Configuration file; also FOLIOT_CONFIG. Default: {CONFIG} in this directory, if it exists.",
    )(function)


def storage_options(function: Decorated) -> Decorated:
    """Add `--storage`, `--config` and `--url`: each of them can name what the command works on."""
    return database_options(url_option(function))


def database_options(function: Decorated) -> Decorated:
    """Add `--storage` and `--config`, for commands that need the database itself."""
    storage = click.option(
        "--storage",
        envvar="FOLIOT_STORAGE",
        help="Database; also FOLIOT_STORAGE. Default: that of the configuration, else sqlite:///foliot.db.",
    )
    return storage(config_option(function))


def find_config(given: Path | None) -> Path | None:
    """Return the given file, or the one in this directory if it exists."""
    if given is None:
        here = Path(CONFIG)
        return here if here.is_file() else None
    if not given.exists():
        raise InvalidInput(f"the file {str(given)!a} does not exist", hint="Write a first one with: foliot init")
    return given


def require_config(given: Path | None) -> Path:
    """Return the given file, or the one in this directory. FoliotError if there is none."""
    path = find_config(given)
    if path is None:
        raise FoliotError(
            f"there is no {CONFIG} in {Path.cwd()}",
            hint="Write a first one with: foliot init; or name another one with --config.",
        )
    return path
