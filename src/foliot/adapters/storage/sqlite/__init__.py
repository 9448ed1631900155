"""SQLite as storage: one file, any number of processes on one machine."""

from foliot.adapters.storage.sqlite.storage import SqliteStorage

__all__ = ["SqliteStorage"]
