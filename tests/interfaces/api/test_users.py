"""Users, logins and sessions by HTTP."""

from collections.abc import AsyncIterator

import pytest

from foliot.interfaces.api.access import StoredAccess, session_cookie, session_of
from foliot.service.services import Services
from tests.interfaces.api.serving import Answer, Client, serving

PASSWORD = "correct horse battery"


@pytest.fixture
async def client(services: Services) -> AsyncIterator[Client]:
    """A client of a server with an administrator."""
    await services.users.add("anna", PASSWORD, role="admin")
    async with serving(services, StoredAccess(services, may_be_development=True)) as client:
        yield client


async def log_in(client: Client, password: str = PASSWORD, **headers: str) -> Answer:
    client.session.cookie_jar.clear()
    return await client.post("/api/login", {"name": "anna", "password": password}, **headers)


def cookie_of(answer: Answer) -> dict[str, str]:
    return {"cookie": answer.headers["Set-Cookie"].partition(";")[0]}


@pytest.mark.proves("Z10")
async def test_a_login_opens_a_session_until_the_logout(client: Client) -> None:
    answer = await log_in(client)
    cookie = cookie_of(answer)
    client.session.cookie_jar.clear()

    before = await client.get("/api/me", **cookie)
    await client.post("/api/logout", origin=client.base, **cookie)
    client.session.cookie_jar.clear()
    after = await client.get("/api/me", **cookie)

    assert (answer.status, answer.json["role"]) == (200, "admin")
    assert (before.json["kind"], before.json["name"]) == ("user", "anna")
    assert after.status == 401
    attributes = answer.headers["Set-Cookie"]
    assert "HttpOnly" in attributes
    assert "SameSite=Strict" in attributes


@pytest.mark.proves("Z10")
def test_the_cookie_is_bound_to_tls() -> None:
    cookie = session_cookie("abc", 60, is_secure=True)

    assert cookie.startswith("__Host-")
    assert cookie.endswith("; Secure")
    assert session_of({"cookie": f"other=1; {cookie.partition(';')[0]}"}) == "abc"


async def test_a_wrong_password_and_an_unknown_user_get_the_same_answer(client: Client) -> None:
    wrong = await log_in(client, "wrong password")
    unknown = await client.post("/api/login", {"name": "nobody", "password": PASSWORD})

    assert (wrong.status, wrong.error["code"]) == (unknown.status, unknown.error["code"]) == (401, "unauthenticated")
    assert wrong.error["message"] == unknown.error["message"]
    assert "Set-Cookie" not in wrong.headers


@pytest.mark.proves("Z9")
async def test_many_wrong_passwords_are_refused_for_a_while(client: Client) -> None:
    statuses = [(await log_in(client, "wrong password")).status for _ in range(11)]

    assert statuses[:10] == [401] * 10
    assert statuses[10] == 429


@pytest.mark.proves("Z11")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "own", "sec_fetch_site": "cross-site"},
        {"origin": "own", "content_type": "text/plain"},
        {"origin": "own", "content_type": "application/x-www-form-urlencoded"},
    ],
)
async def test_another_site_cannot_use_a_session(client: Client, headers: dict[str, str]) -> None:
    cookie = cookie_of(await log_in(client))
    client.session.cookie_jar.clear()
    sent = {name: client.base if value == "own" else value for name, value in headers.items()}

    refused = await client.send("POST", "/api/jobs", b'{"id": "owned", "command": "true"}', **sent, **cookie)

    assert refused.status in (403, 415)
    assert (await client.get("/api/jobs", **cookie)).json["items"] == []


@pytest.mark.proves("Z11")
async def test_a_page_of_this_server_may_change_something(client: Client) -> None:
    cookie = cookie_of(await log_in(client))
    client.session.cookie_jar.clear()

    allowed = [
        await client.put("/api/jobs/x", {"command": "true"}, origin=client.base, **cookie),
        await client.put("/api/jobs/y", {"command": "true"}, sec_fetch_site="same-origin", **cookie),
    ]

    assert [answer.status for answer in allowed] == [201, 201]


async def test_another_site_cannot_log_a_browser_in(client: Client) -> None:
    assert (await log_in(client, origin="https://evil.example")).status == 403


@pytest.mark.proves("Z51")
async def test_a_new_password_and_a_removed_user_end_the_sessions(client: Client, services: Services) -> None:
    await services.users.add("bob", PASSWORD, role="viewer")
    admin = {**cookie_of(await log_in(client)), "origin": client.base}
    sessions: list[tuple[int, int]] = []
    for change in (
        ("PUT", "/api/users/bob/password", {"password": "another password"}),
        ("DELETE", "/api/users/bob", None),
    ):
        password = PASSWORD if not sessions else "another password"
        client.session.cookie_jar.clear()
        cookie = cookie_of(await client.post("/api/login", {"name": "bob", "password": password}))
        client.session.cookie_jar.clear()
        before = await client.get("/api/me", **cookie)
        await client.send(*change, **admin)
        sessions.append((before.status, (await client.get("/api/me", **cookie)).status))

    assert sessions == [(200, 401), (200, 401)]


async def test_users_are_added_and_listed_without_their_passwords(client: Client) -> None:
    cookie = {**cookie_of(await log_in(client)), "origin": client.base}
    client.session.cookie_jar.clear()
    body = {"name": "bob", "password": "long enough", "role": "viewer"}

    added = await client.post("/api/users", body, **cookie)
    weak = await client.post("/api/users", {**body, "name": "eve", "password": "short"}, **cookie)
    listed = await client.get("/api/users", **cookie)

    assert (added.status, weak.status, weak.error["field"]) == (201, 422, "password")
    assert [user["name"] for user in listed.json["items"]] == ["anna", "bob"]
    assert b"long enough" not in listed.content
    assert b"argon" not in listed.content


async def test_development_mode_ends_with_the_first_user(client: Client) -> None:
    assert (await client.get("/api/jobs")).status == 401


async def test_development_mode_ends_at_once_when_a_request_adds_the_first_user(services: Services) -> None:
    async with serving(services, StoredAccess(services, may_be_development=True)) as client:
        before = await client.get("/api/jobs")
        await client.post("/api/users", {"name": "anna", "password": "a long password", "role": "admin"})
        after = await client.get("/api/jobs")

    assert (before.status, after.status) == (200, 401)
