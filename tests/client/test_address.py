"""Where requests go, and what is never shown."""

import logging
import subprocess
import sys

import pytest

from foliot.client import AsyncClient, Client
from foliot.client.address import read_address
from foliot.errors import CredentialsRefused, InvalidInput, NotFound
from tests.cases import for_each
from tests.client.scripted import Reply, ScriptedServer
from tests.client.test_retry import refusal

TOKEN = "fol_very-secret"


def test_the_environment_has_the_address_and_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOT_URL", "https://foliot.example/base/")
    monkeypatch.setenv("FOLIOT_TOKEN", TOKEN)

    found = read_address(None, None)

    assert (found.url, found.token) == ("https://foliot.example/base", TOKEN)
    assert Client().url == found.url


def test_arguments_have_precedence_over_the_environment() -> None:
    environ = {"FOLIOT_URL": "https://other.example", "FOLIOT_TOKEN": "other"}

    assert read_address("https://foliot.example", TOKEN, environ=environ).url == "https://foliot.example"
    assert read_address("https://foliot.example", TOKEN, environ=environ).token == TOKEN


def test_without_any_address_the_default_one_of_a_server_is_used() -> None:
    assert read_address(None, None, environ={}).url == "http://127.0.0.1:7070"


@for_each(
    "url", ["http://foliot.example", "http://10.0.0.1:7070", "http://localhost.example", "http://127.0.0.1.nip.io"]
)
def test_a_token_is_not_sent_over_plain_http_to_another_machine(url: str) -> None:
    with pytest.raises(InvalidInput, match="plain HTTP") as refused:
        read_address(url, TOKEN)

    assert TOKEN not in str(refused.value)
    assert read_address(url, None, environ={}).url == url
    assert read_address(url, TOKEN, allow_http=True).token == TOKEN
    assert read_address(url, TOKEN, environ={"FOLIOT_ALLOW_HTTP": "1"}).token == TOKEN


@for_each(
    "url", ["http://localhost:7070", "http://127.0.0.1", "http://[::1]:80", "http://127.8.0.1", "https://far.example"]
)
def test_a_token_is_sent_to_this_machine_and_over_tls(url: str) -> None:
    assert read_address(url, TOKEN).token == TOKEN


@for_each(
    "url", ["foliot.example", "ftp://a", "http://", "http://a:b@c", "http://a?x=1", "http://a b", "http://a:99999"]
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="the address of the server"):
        read_address(url, None)


@for_each("token", ["two words", "line\nbreak", "käse"])
def test_a_token_that_would_change_the_request_is_refused(token: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_address("http://localhost", token)

    assert token not in str(refused.value)


@for_each("run_id", ["", ".", ".."])
async def test_an_id_that_would_change_the_path_is_refused(run_id: str) -> None:
    with pytest.raises(InvalidInput, match="is not an id"):
        await AsyncClient("http://localhost").runs.get(run_id)


async def test_an_id_stays_one_part_of_the_path(scripted: ScriptedServer) -> None:
    scripted.replies = [Reply(404, refusal("not_found"))]
    async with AsyncClient(scripted.url) as client:
        for run_id in ("../tokens", "a/b?c#d", "a%2fb"):
            with pytest.raises(NotFound):
                await client.runs.get(run_id)

    paths = [one.path for one in scripted.received]
    assert paths == ["/api/runs/..%2Ftokens", "/api/runs/a%2Fb%3Fc%23d", "/api/runs/a%252fb"]


async def test_the_token_is_sent_and_never_shown(scripted: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    scripted.replies = [Reply(401, refusal("unauthenticated"))]
    client = AsyncClient(scripted.url, token=TOKEN)
    async with client:
        with pytest.raises(CredentialsRefused) as refused:
            await client.server.version()

    assert scripted.received[0].headers["authorization"] == f"Bearer {TOKEN}"
    shown = [repr(client), repr(Client(scripted.url, token=TOKEN)), repr(client._transport._address), caplog.text]
    assert TOKEN not in "".join([*shown, str(refused.value), repr(refused.value)])


def test_the_http_library_is_loaded_by_the_first_request() -> None:
    program = "import sys; from foliot.client import Client; Client(); print({'aiohttp'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"
