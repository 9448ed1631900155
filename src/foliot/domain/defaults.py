"""Defaults of settings that are given neither in a file nor on the command line nor in code."""

from typing import Final

DEFAULT_STORAGE: Final = "sqlite:///foliot.db"
"""The database: a file in the current directory."""
DEFAULT_PORT: Final = 7070
"""The port of the HTTP API."""
