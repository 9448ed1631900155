"""The settings of a file are known although its jobs have errors; errors of the settings hide nothing."""

from pathlib import Path

import pytest

from foliot.config import Loaded, load
from foliot.domain.instant import Instant

SETTINGS = """\
[server]
concurrency = 7
watch = true

[storage]
url = "sqlite:///elsewhere.db"

[outbound]
block_private = true
allow = ["10.0.0.1"]
"""
WRONG = '[[jobs]]\nid = "wrong"\ncommand = "true"\ncron = "61 * * * *"\n'
UNPARSABLE = '[[jobs]]\nid = "wrong"\ncommand = "true\n\n[jobs.env]\nA = 1\n\n[[workflows.steps]]\n'
SCRIPT = '[[jobs]]\nid = "wrong"\ncommand = """\n[ -f x ]\n[[ -f y ]] && echo y\n"""\nenv = {\n'
UNCLOSED = '[[jobs\nid = "wrong"\ncommand = "true"\n'


def read(tmp_path: Path, text: str, **environ: str) -> Loaded:
    (file := tmp_path / "foliot.toml").write_text(text)
    return load(file, environ, Instant(0))


@pytest.mark.parametrize("error", [WRONG, UNPARSABLE, SCRIPT, UNCLOSED])
@pytest.mark.parametrize("is_first", [True, False])
def test_settings_are_known_although_jobs_have_errors(tmp_path: Path, error: str, is_first: bool) -> None:
    whole = read(tmp_path, SETTINGS).configuration
    loaded = read(tmp_path, f"{error}\n{SETTINGS}" if is_first else f"{SETTINGS}\n{error}")

    assert loaded.configuration is None
    assert loaded.settings == whole
    assert loaded.storage == f"sqlite:///{tmp_path}/elsewhere.db"


def test_settings_are_known_although_an_included_file_has_errors(tmp_path: Path) -> None:
    (tmp_path / "jobs.toml").write_text(UNPARSABLE)
    loaded = read(tmp_path, f'include = ["jobs.toml"]\n{SETTINGS}')

    assert loaded.settings is not None
    assert loaded.settings.server.slots == 7
    assert tmp_path / "jobs.toml" in loaded.settings.files


@pytest.mark.parametrize(
    "text",
    [
        SETTINGS.replace("concurrency", "concurency"),
        SETTINGS.replace("[outbound]", "[outbund]"),
        SETTINGS.replace("true", "truth", 1),
        f"include = [\n{SETTINGS}",
        f"{SETTINGS}\n[server]\n",
        "",
    ],
)
def test_settings_with_errors_are_not_used(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, f"{text}\n{UNPARSABLE}" if text else "=").settings is None


def test_errors_in_the_environment_count_as_errors_of_the_settings(tmp_path: Path) -> None:
    assert read(tmp_path, SETTINGS + WRONG, FOLIOT_SERVER_CONCURRENCY="many").settings is None


def test_a_missing_file_has_no_settings(tmp_path: Path) -> None:
    assert load(tmp_path / "foliot.toml", {}, Instant(0)).settings is None


def test_a_file_without_errors_is_its_own_settings(tmp_path: Path) -> None:
    loaded = read(tmp_path, SETTINGS)

    assert loaded.settings is loaded.configuration is not None
