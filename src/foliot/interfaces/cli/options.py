"""Options that many commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from foliot.interfaces.cli.config_file import CONFIG

Decorated = Callable[..., Any]


def json_option(meaning: str) -> Callable[[Decorated], Decorated]:
    return click.option("--json", "as_json", is_flag=True, help=f"For programs: {meaning}.")


def config_option(function: Decorated) -> Decorated:
    return click.option(
        "-c",
        "--config",
        envvar="FOLIOT_CONFIG",
        type=click.Path(path_type=Path),
        help=f"Configuration file; also FOLIOT_CONFIG. {CONFIG} here if there is one.",
    )(function)


def storage_options(function: Decorated) -> Decorated:
    """`--storage` and `--config`: either tells where the database is."""
    storage = click.option(
        "--storage",
        envvar="FOLIOT_STORAGE",
        help="Database; also FOLIOT_STORAGE. What the configuration says, or sqlite:///foliot.db.",
    )
    return storage(config_option(function))
