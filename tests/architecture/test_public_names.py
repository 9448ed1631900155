"""The package offers its public names, and loads none of them before it is asked."""

import subprocess
import sys

import pytest

import foliot


@pytest.mark.parametrize("name", foliot.__all__)
def test_every_public_name_is_there_and_listed(name: str) -> None:
    assert getattr(foliot, name) is not None
    assert name in dir(foliot)


@pytest.mark.parametrize("name", ["cron", "errors", "testing"])
def test_modules_are_there_without_an_import_of_their_own(name: str) -> None:
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


def test_what_is_not_public_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'foliot' has no attribute 'chron'"):
        foliot.chron  # noqa: B018 - to be looked up


def test_cron_is_at_hand() -> None:
    assert foliot.cron.compile("0 3 * * *").timezone == "UTC"
