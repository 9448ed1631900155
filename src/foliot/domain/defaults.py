"""What holds where nobody has said anything, in the file, on the command line or in code."""

from typing import Final

DEFAULT_STORAGE: Final = "sqlite:///foliot.db"
"""The database: a file in the current directory."""
