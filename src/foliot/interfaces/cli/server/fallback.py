"""Starting with the definitions that were applied last, if the jobs or workflows of a file have errors.

A restart at night must not stop all jobs because of an error in one of them. The settings of the file must be correct,
because they name the database.
"""

import asyncio
import logging
import os
from pathlib import Path

from foliot.config import Configuration, Loaded
from foliot.errors import SchemaTooOld, StorageMissing
from foliot.interfaces.cli.open_storage import opened_storage
from foliot.interfaces.cli.render.text import counted
from foliot.interfaces.cli.server.reloader import problem_facts

log = logging.getLogger("foliot")


def storage_url(given: str | None, configuration: Configuration) -> str:
    """Return the database of a configuration, unless an option or the environment names another."""
    return given or os.environ.get("FOLIOT_STORAGE") or configuration.storage


def has_fallback(loaded: Loaded, storage: str | None) -> bool:
    """Return whether a server can start although its file has errors: its settings are correct and jobs are stored."""
    if loaded.configuration is not None or loaded.settings is None:
        return False
    return asyncio.run(_has_jobs(storage_url(storage, loaded.settings)))


async def _has_jobs(storage: str) -> bool:
    try:
        async with opened_storage(storage) as services:
            return bool(await services.queries.jobs.listed(limit=1))
    except StorageMissing:
        return False
    except SchemaTooOld:
        # It was used by an earlier version. The server updates it when it starts.
        return True


def log_fallback(path: Path, loaded: Loaded) -> str:
    """Log as one event that the file is not applied, with all its errors. Return a summary."""
    log.error(
        "configuration_refused",
        extra={
            "errors": len(loaded.errors),
            "problems": [problem_facts(problem) for problem in loaded.errors],
            "started_with": "the definitions that were applied last",
            "hint": "Correct the file: it is applied as soon as it has no errors. --strict refuses to start.",
        },
    )
    return f"{path} has {counted(len(loaded.errors), 'error')}"
