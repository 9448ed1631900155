"""PostgreSQL as the storage: any number of schedulers and workers on one database."""

from foliot.adapters.storage.postgres.storage import PostgresStorage, open_postgres

__all__ = ["PostgresStorage", "open_postgres"]
