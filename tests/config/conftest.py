"""Fixtures that load configuration texts, in a temporary directory."""

from collections.abc import Callable
from pathlib import Path

import pytest

from foliot.config import Configuration, Loaded, load
from foliot.testing.clock import START

Loader = Callable[..., Loaded]
Good = Callable[..., Configuration]


@pytest.fixture
def loaded(tmp_path: Path) -> Loader:
    """Load a text as foliot.toml, with `files` beside it; keywords are environment variables."""

    def load_text(text: str, files: dict[str, str] | None = None, **environ: str) -> Loaded:
        for name, content in {**(files or {}), "foliot.toml": text}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        return load(tmp_path / "foliot.toml", environ, START)

    return load_text


@pytest.fixture
def good(loaded: Loader) -> Good:
    """Load a text that must have no problems."""

    def load_good(text: str, files: dict[str, str] | None = None, **environ: str) -> Configuration:
        result = loaded(text, files, **environ)
        assert result.configuration is not None, "\n".join(map(str, result.problems))
        return result.configuration

    return load_good
