"""The command line.

main            the entry point, and the list of commands
commands/       the commands: one module for each, or for a few small ones that belong together
render/         answers as text and as JSON documents
server/         the process of `foliot serve` and `foliot worker`
open_storage    opens the database of a command
"""

from foliot.interfaces.cli.main import cli, main

__all__ = ["cli", "main"]
