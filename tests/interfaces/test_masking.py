"""No command shows what may be a secret, in words or as JSON, of jobs, runs and differences."""

from pathlib import Path

import pytest

from foliot.config import load
from foliot.domain.ids import JobId
from foliot.domain.instant import Instant
from tests.interfaces.conftest import Call

SECRET = "s3cret"
FILE = """
[[jobs]]
id = "hook"
kind = "http"
method = "POST"
url = "https://ada:s3cret@hooks.example/${HOOK}?token=s3cret"
headers = { X-Shop = "Bearer s3cret" }
json = { text = "hello", api_key = "s3cret", by = "${HOOK}" }
payload = { password = "s3cret", day = "${DAY}", note = "${HOOK}" }

[[jobs]]
id = "sent"
kind = "http"
url = "https://hooks.example/"
body = "token=s3cret"

[[jobs]]
id = "read"
command = "cat"
stdin = "s3cret"
env = { PASSWORD = "${HOOK}" }

[[workflows]]
id = "flow"
params = { token = "s3cret", day = "monday" }

[[workflows.steps]]
name = "call"
kind = "http"
url = "https://hooks.example/${HOOK}"
headers = { X-Shop = "s3cret" }
"""


@pytest.fixture(autouse=True)
def applied(call: Call, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", SECRET)
    monkeypatch.setenv("DAY", "monday")
    (elsewhere / "foliot.toml").write_text(FILE)
    assert call("reload").code == 0


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize(
    "about",
    ["jobs", "show hook", "show sent", "show read", "workflows", "workflows show flow", "show flow", "show flow.call"],
)
def test_a_definition_is_shown_without_secrets(call: Call, about: str, form: list[str]) -> None:
    code, out, err = call(*about.split(), *form)

    assert code == 0
    assert SECRET not in out + err


def test_what_is_left_out_says_so_and_the_rest_is_there(call: Call) -> None:
    [job] = call("show", "hook", "--json").objects

    assert job["spec"]["url"] == "https://***@hooks.example/${HOOK}?token=***"
    assert job["spec"]["headers"] == {"X-Shop": "***"}
    assert job["spec"]["json"] == {"text": "hello", "api_key": "***", "by": "${HOOK}"}
    assert job["payload_template"] == {"password": "***", "day": "${DAY}", "note": "${HOOK}"}


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_a_run_was_given_is_shown_without_what_sounds_like_a_secret(call: Call, form: list[str]) -> None:
    call("trigger", "sent", "--payload", '{"token": "s3cret", "day": "monday"}')

    told = "".join(call(*words, *form).out for words in (["show", "@last"], ["runs"], ["jobs"], ["show", "sent"]))

    assert SECRET not in told
    assert "monday" in told


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_change_is_told_without_secrets(call: Call, elsewhere: Path, form: list[str]) -> None:
    file = elsewhere / "foliot.toml"
    file.write_text(FILE.replace(SECRET, "s3cret-too").replace("hello", "good day"))

    out = call("plan", *form).out

    assert "hook" in out
    assert SECRET not in out


def test_the_job_itself_gets_everything(call: Call, elsewhere: Path) -> None:
    """What is shown is one thing, what is done another."""
    loaded = load(elsewhere / "foliot.toml", {"HOOK": SECRET, "DAY": "monday"}, Instant(0))

    assert loaded.configuration is not None
    spec = loaded.configuration.declared.jobs[JobId("hook")].spec
    assert spec["url"] == f"https://ada:{SECRET}@hooks.example/{SECRET}?token={SECRET}"


@pytest.mark.proves("Z48")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_so_are_the_parameters_of_an_execution(call: Call, form: list[str]) -> None:
    call("workflows", "start", "flow", "--param", "token=s3cret-too")

    told = "".join(call(*words, *form).out for words in (["workflows", "show", "flow"], ["show", "@last"]))

    assert SECRET not in told
    assert "monday" in told
