"""Storages that return wrong results."""

from collections.abc import Callable
from typing import Any

import pytest

from foliot.testing.conformance.storage.scene import Scene

Distort = Callable[[str, Callable[[Any], Any]], None]


def distorting(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Distort:
    """Make a verb of the storage return a changed result."""

    def plant(verb: str, change: Callable[[Any], Any]) -> None:
        port, _, name = verb.partition(".")
        store = getattr(scene.storage, port)
        asked = getattr(store, name)

        async def answer(*arguments: Any, **named: Any) -> Any:
            return change(await asked(*arguments, **named))

        monkeypatch.setattr(store, name, answer)

    return plant
