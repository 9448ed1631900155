"""Watches jobs: the ends of their runs are kept in order of time (`endings`)."""

from collections.abc import Mapping

from foliot.adapters.storage.postgres.database.transaction import Transaction
from foliot.adapters.storage.postgres.database.values import columns
from foliot.domain.ids import JobId
from foliot.domain.instant import Millis


async def watch_jobs(transaction: Transaction, project: str, look_back: Mapping[JobId, Millis]) -> None:
    """Begin to keep the ends of the runs of these jobs, including past ones."""
    if not look_back:
        return
    if await transaction.column("unwatched", project, list(look_back)):
        await transaction.run("lock_watched")
        new = await transaction.column("unwatched", project, list(look_back))
        if new:
            await transaction.run("watch", project, new)
            await transaction.run("keep_earlier_endings", project, new)
    await transaction.run("look_back", project, *columns(sorted(look_back.items())))
