"""A directory with modules, and isolated calls of their functions."""

import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from foliot.adapters.runners.isolated import IsolatedCalls
from foliot.domain.run.outcome import Failure, Success
from tests.adapters.runners.attempts import ListLog, an_attempt


class Scene:
    """Writes modules and calls their functions in isolation."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.calls = IsolatedCalls()
        self.log = ListLog()

    def write(self, source: str, module: str = "tasks") -> None:
        path = self.directory / f"{module.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))

    async def call(self, source: str | None = None, call: str = "tasks:job", **given: object) -> Success | Failure:
        """Write the module, if its source is given, and call its `job`."""
        if source is not None:
            self.write(source)
        given = {"working_dir": str(self.directory), "log": self.log, **given}
        return await self.calls.run(an_attempt(call=call, **given))  # type: ignore[arg-type]

    async def failure(self, source: str | None = None, **given: object) -> Failure:
        outcome = await self.call(source, **given)  # type: ignore[arg-type]
        assert isinstance(outcome, Failure), outcome
        return outcome


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    await scene.calls.close()
