"""Which rights a user needs, and the errors if one is missing."""

from collections.abc import Iterator

import pytest

from foliot.adapters.storage.postgres import open_postgres
from foliot.domain.instant import MINUTE
from foliot.errors import StorageError
from foliot.testing.builders import a_run, every, succeeded
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.fresh import fresh_database


@pytest.fixture
def clerk(server: PostgresServer, database: str) -> Iterator[str]:
    """The DSN of a user that has all rights on rows, and no others."""
    server.sql("CREATE ROLE clerk LOGIN")
    server.sql(
        "GRANT USAGE ON SCHEMA foliot TO clerk; GRANT USAGE ON ALL SEQUENCES IN SCHEMA foliot TO clerk;"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA foliot TO clerk",
        database=database,
    )
    yield server.dsn(database).replace("foliot@", "clerk@")
    server.sql("DROP OWNED BY clerk", database=database)
    server.sql("DROP ROLE clerk")


async def test_rights_on_schema_sequences_and_tables_are_enough_to_serve(clerk: str) -> None:
    async with await open_postgres(clerk) as storage:
        scene = Scene(storage, VirtualClock())
        await scene.schedule(every(60))
        await scene.create(a_run())
        await scene.fire_after(MINUTE)

        assert await scene.finish(*(succeeded(claim) for claim in await scene.claim())) == []


@pytest.mark.parametrize("right", ["UPDATE", "INSERT"])
async def test_a_missing_right_is_reported_with_all_needed_rights(
    clerk: str, server: PostgresServer, database: str, right: str
) -> None:
    server.sql(f"REVOKE {right} ON ALL TABLES IN SCHEMA foliot FROM clerk", database=database)

    with pytest.raises(StorageError, match="denies a right: permission denied for table") as refusal:
        async with await open_postgres(clerk) as storage:
            await storage.orders.create([a_run()])

    assert "SELECT, INSERT, UPDATE and DELETE on all its tables" in refusal.value.hint
    assert "CREATE" not in refusal.value.hint


async def test_a_user_without_the_right_to_create_tables_gets_a_hint(clerk: str, database: str) -> None:
    with (
        fresh_database(is_migrated=False) as (_, empty),
        pytest.raises(StorageError, match="does not let this user make the tables") as refusal,
    ):
        await open_postgres(clerk.replace(f"/{database}?", f"/{empty}?"))

    assert "CREATE on the database" in refusal.value.hint
