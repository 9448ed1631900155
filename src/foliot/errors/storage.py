"""Errors of the database."""

from foliot.errors.base import FoliotError


class StorageError(FoliotError):
    """The database could not be used."""

    code = "storage"


class StorageUnavailable(StorageError):
    """The database could not be reached. It may work next time."""

    code = "storage_unavailable"


class StorageMissing(StorageUnavailable):
    """The database does not exist yet."""

    code = "storage_missing"

    def __init__(self, place: str) -> None:
        super().__init__(
            f"there is no Foliot database {place}",
            hint="Create it with: foliot migrate, or start foliot serve, or name another one with --storage.",
        )


class StorageGone(StorageError):
    """The database was removed or replaced while in use. Only a restart helps."""

    code = "storage_gone"


class StorageCorrupt(StorageError):
    """The database is damaged, or is not a Foliot database."""

    code = "storage_corrupt"


class RowUnreadable(StorageCorrupt):
    """One row cannot be read, because another program has changed it.

    It belongs to a job, a run or a revision of a schedule; `uid` is the schedule it belongs to.
    """

    code = "row_unreadable"

    def __init__(self, kind: str, name: object, cause: Exception) -> None:
        self.kind = kind
        self.name = str(name)
        self.schedule_id = self.uid = ""
        super().__init__(
            f"the row of {kind} {self.name[:128]!a} cannot be read: {cause}",
            hint="Something other than Foliot has written it. Restore this row from a backup.",
        )

    def place_in(self, uid: str, schedule_id: str) -> "RowUnreadable":
        """Add the schedule in whose ledger the row was found."""
        self.uid, self.schedule_id = uid, schedule_id
        if self.kind != "schedule":
            self.message = f"schedule {schedule_id[:128]!a}: {self.message}"
        return self


class SchemaTooOld(StorageError):
    """The database was written by an earlier version of Foliot, and was opened only to read."""

    code = "schema_too_old"

    def __init__(self, *, found: int, needed: int) -> None:
        super().__init__(
            f"the database has schema version {found}, this Foliot needs {needed}",
            hint="Make a backup, then update the database with: foliot migrate",
        )
        self.found = found
        self.needed = needed


class SchemaTooNew(StorageError):
    """The database was written by a later version of Foliot."""

    code = "schema_too_new"

    def __init__(self, *, found: int, supported: int) -> None:
        super().__init__(
            f"the database has schema version {found}, this Foliot supports up to {supported}",
            hint="Install the newer Foliot that wrote it, or restore a backup from before the upgrade.",
        )
        self.found = found
        self.supported = supported


class DriverMissing(StorageError):
    """The Python package for this database is not installed."""

    code = "driver_missing"

    def __init__(self, scheme: str, package: str, extra: str) -> None:
        super().__init__(
            f"{scheme} needs the Python package {package}, which is not installed",
            hint=f"Install it with: pip install 'foliot[{extra}]'",
        )
