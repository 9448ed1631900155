"""The package has its public names, and loads them on first use."""

import subprocess
import sys

import pytest

import foliot


@pytest.mark.parametrize("name", foliot.__all__)
def test_every_public_name_exists_and_is_listed(name: str) -> None:
    assert getattr(foliot, name) is not None
    assert name in dir(foliot)


@pytest.mark.parametrize("name", ["client", "cron", "errors", "testing"])
def test_public_modules_need_no_separate_import(name: str) -> None:
    program = f"import foliot; print(foliot.{name}.__name__)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == f"foliot.{name}"


def test_importing_the_package_loads_nothing_else_of_it() -> None:
    program = "import sys, foliot; dir(foliot); print([name for name in sys.modules if name.startswith('foliot.')])"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_an_application_loads_no_driver_and_nothing_that_reads_files() -> None:
    heavy = "{'apsw', 'asyncpg', 'aiohttp', 'watchfiles', 'tomllib', 'foliot.config', 'foliot.interfaces'}"
    program = f"import sys; from foliot import Foliot; print(sorted({heavy} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_public_raises_an_error() -> None:
    with pytest.raises(AttributeError, match="module 'foliot' has no attribute 'chron'"):
        foliot.chron  # noqa: B018 - the attribute access is the test


def test_cron_can_be_used_from_the_package() -> None:
    assert foliot.cron.compile("0 3 * * *").timezone == "UTC"
