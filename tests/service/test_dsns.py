"""DSNs are registered by name and stored encrypted."""

import base64
from pathlib import Path

import pytest

from foliot.adapters.secrets import VARIABLE, KeyStore
from foliot.domain.fanout.dsn import engine_of
from foliot.errors import InvalidInput, NotFound, SecretUnreadable
from foliot.ports.storage import Storage
from foliot.service.commands.dsns import ConfiguredDsns, DsnService
from tests.cases import for_each

PASSWORD = "hunter2"
DSN = f"postgresql://anna:{PASSWORD}@db/shop"


def keys(first: int = 0) -> KeyStore:
    return KeyStore({VARIABLE: base64.b64encode(bytes(range(first, first + 32))).decode()})


@pytest.fixture
def dsns(storage: Storage) -> DsnService:
    return DsnService(storage, keys())


async def test_a_dsn_is_found_by_its_name(dsns: DsnService) -> None:
    assert await dsns.add("main", DSN)
    assert not await dsns.add("main", f"{DSN}2")

    assert await dsns.find("main") == f"{DSN}2"


@pytest.mark.proves("Z26", "Z28")
async def test_no_file_of_the_database_contains_a_dsn(dsns: DsnService, storage: Storage, tmp_path: Path) -> None:
    await dsns.add("main", DSN)
    await storage.close()

    assert any(b"main" in data for data in contents(tmp_path))
    assert not any(PASSWORD.encode() in data for data in contents(tmp_path))


def contents(directory: Path) -> list[bytes]:
    return [path.read_bytes() for path in directory.iterdir() if path.is_file()]


async def test_a_list_has_names_and_kinds_only(dsns: DsnService) -> None:
    await dsns.add("main", DSN)
    await dsns.add("files", "sqlite:////srv/shop.db")

    listed = await dsns.all()

    assert [(one.name, one.engine) for one in listed] == [("files", "sqlite"), ("main", "postgresql")]
    assert PASSWORD not in repr(listed)


async def test_a_removed_dsn_does_not_exist(dsns: DsnService) -> None:
    await dsns.add("main", DSN)
    await dsns.remove("main")

    for call in (dsns.find("main"), dsns.remove("main")):
        with pytest.raises(NotFound, match="DSN 'main' does not exist"):
            await call


async def test_a_similar_name_is_suggested(dsns: DsnService) -> None:
    await dsns.add("main", DSN)

    with pytest.raises(NotFound) as refused:
        await dsns.find("mian")

    assert refused.value.hint == 'Did you mean "main"?'


async def test_with_another_key_a_dsn_cannot_be_read(dsns: DsnService, storage: Storage) -> None:
    await dsns.add("main", DSN)

    with pytest.raises(SecretUnreadable):
        await DsnService(storage, keys(1)).find("main")


async def test_a_row_that_was_copied_under_another_name_cannot_be_read(dsns: DsnService, storage: Storage) -> None:
    await dsns.add("main", DSN)
    [stored] = await storage.dsns.all()
    await storage.dsns.put("other", stored.engine, stored.sealed)

    with pytest.raises(SecretUnreadable):
        await dsns.find("other")


async def test_a_dsn_of_the_configuration_has_precedence(dsns: DsnService) -> None:
    await dsns.add("main", DSN)
    await dsns.add("stored", DSN)
    both = ConfiguredDsns({"main": "sqlite:////srv/shop.db"}, dsns)

    assert await both.find("main") == "sqlite:////srv/shop.db"
    assert await both.find("stored") == DSN
    with pytest.raises(NotFound):
        await both.find("missing")


@for_each(
    ("dsn", "message"),
    [
        (PASSWORD, "names no known database"),
        (f"postgersql://a:{PASSWORD}@db/x", "names no known database"),
        (f"mysql://a:{PASSWORD}@db/x", "names no known database"),
        ("postgresql://", "names no server"),
        ("sqlite:///relative.db", "absolute path"),
        ("sqlite:////srv/x.db?mode=rwc", "no options"),
        ("sqlite://x", "names no file"),
        (f"{DSN}\nother", "control character"),
        (f"{DSN}{'x' * 5_000}", "too long"),
    ],
)
def test_a_text_that_is_no_dsn_is_refused_and_not_repeated(dsn: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        engine_of(dsn)

    assert PASSWORD not in str(refused.value)


async def test_nothing_is_stored_under_a_wrong_name(dsns: DsnService) -> None:
    with pytest.raises(InvalidInput, match="not the name of a DSN"):
        await dsns.add(DSN, DSN)

    assert await dsns.all() == []
