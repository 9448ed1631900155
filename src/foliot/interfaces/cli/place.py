"""Where a command works: on the storage that its options name, or on a server.

--url  >  --storage, --config  >  FOLIOT_URL  >  FOLIOT_STORAGE, FOLIOT_CONFIG, ./foliot.toml, sqlite:///foliot.db
"""

import os
from typing import Any, Final

import click
from click.core import ParameterSource

from foliot.errors import InvalidInput

URL_VARIABLE: Final = "FOLIOT_URL"
_KEY: Final = "foliot.url"
_LOCAL: Final = {"storage": "--storage", "config": "--config"}


def url_option(function: Any) -> Any:
    """Add `--url`. It is no argument of the command: `given_server` returns it."""
    return click.option(
        "--url",
        envvar=URL_VARIABLE,
        expose_value=False,
        callback=_save,
        help="Use the server at this address, with the token in FOLIOT_TOKEN; also FOLIOT_URL.",
    )(function)


def _save(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta[_KEY] = value


def given_server(context: click.Context | None = None) -> str | None:
    """Return the address of the server that the command uses, or None if it works on the storage."""
    context = context or click.get_current_context(silent=True)
    if context is None:
        return None
    url: str | None = context.meta.get(_KEY)
    named = _named_storage(context)
    if url is None or named is None:
        return url
    if context.get_parameter_source("url") is ParameterSource.COMMANDLINE:
        raise InvalidInput(f"--url and {named} are mutually exclusive", hint="Leave out one of them.")
    return None


def refuse_server() -> None:
    """Refuse a command that needs the database, if the environment names a server and no option names a database."""
    context = click.get_current_context()
    if os.environ.get(URL_VARIABLE) and _named_storage(context) is None:
        raise InvalidInput(
            f"{context.command_path} needs the database, but FOLIOT_URL names a server",
            hint="Run it on the machine of the server, and name the database with --storage or --config, "
            "or unset FOLIOT_URL.",
        )


def _named_storage(context: click.Context) -> str | None:
    """Return the option on the command line that names a storage."""
    for name, option in _LOCAL.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            return option
    return None
