"""A node runs on the event loop that its configuration names."""

import asyncio
import sys

import pytest
import uvloop

from foliot.config.settings import EventLoop
from foliot.errors import DriverMissing
from foliot.interfaces.cli.loops import factory_of, run_on


@pytest.mark.parametrize(("choice", "kind"), [("auto", uvloop.Loop), ("uvloop", uvloop.Loop)])
def test_uvloop_is_taken_where_it_is_installed(choice: EventLoop, kind: type) -> None:
    seen: list[asyncio.AbstractEventLoop] = []

    async def look() -> None:
        seen.append(asyncio.get_running_loop())

    run_on(choice, look())

    assert isinstance(seen[0], kind)


def test_who_wants_asyncio_gets_it() -> None:
    assert factory_of("asyncio") is None


@pytest.fixture
def without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)


@pytest.mark.usefixtures("without_uvloop")
def test_where_it_is_not_installed_asyncio_will_do() -> None:
    assert factory_of("auto") is None


@pytest.mark.usefixtures("without_uvloop")
def test_who_insists_on_what_is_not_installed_is_told_how_to_install_it() -> None:
    with pytest.raises(DriverMissing) as refused:
        factory_of("uvloop")

    assert refused.value.hint == "Install it with: pip install 'foliot[uvloop]'"
