"""Users log in with a password, and their sessions end."""

import asyncio
import threading
from pathlib import Path

import pytest

from foliot.domain.access.actor import cli_actor
from foliot.domain.access.login import SESSION_IDLE, SESSION_LIFETIME, FailureLimit
from foliot.domain.access.principal import Principal, PrincipalKind
from foliot.domain.access.role import Role
from foliot.domain.instant import HOUR, MINUTE
from foliot.errors import CredentialsRefused, InvalidInput, NotFound, RateLimited
from foliot.ports.storage import Storage
from foliot.service.commands.users import PasswordCheck, UserService
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock

PASSWORD = "correct horse battery"
HERE, THERE = "10.0.0.1", "10.0.0.2"


class FastPasswords:
    """Digests that need no time, and the threads in which they were computed."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.compared: list[str] = []

    def digest(self, password: str) -> str:
        self.threads.append(threading.current_thread().name)
        return f"digest:{hash(password)}"

    def matches(self, password: str, digest: str) -> bool:
        self.threads.append(threading.current_thread().name)
        self.compared.append(digest)
        return digest == f"digest:{hash(password)}"


@pytest.fixture
def passwords() -> FastPasswords:
    return FastPasswords()


@pytest.fixture
def users(storage: Storage, clock: VirtualClock, passwords: FastPasswords) -> UserService:
    return UserService(storage.acting_as(cli_actor("root")), clock, PasswordCheck(passwords), FailureLimit())


@pytest.fixture
async def anna(users: UserService) -> str:
    return (await users.add("anna", PASSWORD, role="editor")).name


async def test_a_session_proves_name_and_role(users: UserService, anna: str) -> None:
    opened = await users.log_in(anna, PASSWORD, HERE)

    expected = Principal(kind=PrincipalKind.USER, name="anna", role=Role.EDITOR)
    assert opened.principal == expected
    assert await users.verify_session(opened.secret) == expected
    assert await users.verify_session(f"{opened.secret}x") is None
    assert await users.verify_session("") is None


@pytest.mark.proves("Z10")
async def test_every_login_has_a_new_session_and_logging_out_ends_it(users: UserService, anna: str) -> None:
    one, other = [await users.log_in(anna, PASSWORD, HERE) for _ in range(2)]
    assert one.secret != other.secret

    await users.log_out(one.secret)
    await users.log_out(one.secret)

    assert await users.verify_session(one.secret) is None
    assert await users.verify_session(other.secret) is not None


@pytest.mark.proves("Z10", "Z51")
async def test_a_new_password_and_removal_end_sessions(users: UserService, anna: str) -> None:
    first = await users.log_in(anna, PASSWORD, HERE)
    await users.set_password(anna, "another password")
    assert await users.verify_session(first.secret) is None
    with pytest.raises(CredentialsRefused):
        await users.log_in(anna, PASSWORD, HERE)

    second = await users.log_in(anna, "another password", HERE)
    await users.remove(anna)
    assert await users.verify_session(second.secret) is None


@pytest.mark.proves("Z10")
async def test_a_session_ends_when_it_is_idle_and_after_its_lifetime(
    users: UserService, anna: str, clock: VirtualClock
) -> None:
    idle = await users.log_in(anna, PASSWORD, HERE)
    used = await users.log_in(anna, PASSWORD, HERE)
    for _ in range(SESSION_IDLE // HOUR):
        clock.advance(HOUR)
        assert await users.verify_session(used.secret) is not None

    assert await users.verify_session(idle.secret) is None
    for _ in range((SESSION_LIFETIME - SESSION_IDLE) // HOUR - 1):
        clock.advance(HOUR)
        assert await users.verify_session(used.secret) is not None
    clock.advance(HOUR)
    assert await users.verify_session(used.secret) is None


@pytest.mark.proves("Z9")
async def test_an_unknown_user_gets_the_same_answer_and_the_same_work(
    users: UserService, anna: str, passwords: FastPasswords
) -> None:
    answers = []
    for name in (anna, "missing"):
        before = len(passwords.compared)
        with pytest.raises(CredentialsRefused) as caught:
            await users.log_in(name, "wrong password", HERE)
        answers.append((str(caught.value), len(passwords.compared) - before))

    assert answers[0] == answers[1]
    assert answers[0][1] == 1


@pytest.mark.proves("Z9")
async def test_failures_are_limited_and_the_right_password_works_from_another_address(
    users: UserService, anna: str, clock: VirtualClock
) -> None:
    for _ in range(10):
        with pytest.raises(CredentialsRefused):
            await users.log_in(anna, "wrong password", HERE)

    with pytest.raises(RateLimited) as caught:
        await users.log_in(anna, PASSWORD, HERE)
    assert caught.value.retry_after == 900
    assert await users.log_in(anna, PASSWORD, THERE)
    clock.advance(15 * MINUTE)
    assert await users.log_in(anna, PASSWORD, HERE)


async def test_digests_are_computed_in_threads(users: UserService, anna: str, passwords: FastPasswords) -> None:
    await asyncio.gather(*(users.log_in(anna, PASSWORD, HERE) for _ in range(5)))

    assert threading.main_thread().name not in passwords.threads


@pytest.mark.proves("Z47")
async def test_logins_and_failures_are_recorded(users: UserService, anna: str, services: Services) -> None:
    opened = await users.log_in(anna, PASSWORD, HERE)
    with pytest.raises(CredentialsRefused):
        await users.log_in("evil\nname", "wrong password", THERE)
    await users.log_out(opened.secret)

    logout, refused, login, _ = await services.audit.page()
    assert (login.actor, login.detail, login.action) == ("user:anna", HERE, "login")
    assert (refused.actor, refused.action, refused.id, refused.after) == (
        *("system", "refuse", "evil?name"),
        {"address": THERE},
    )
    assert logout.action == "logout"


async def test_wrong_users_are_refused(users: UserService, anna: str) -> None:
    for given in (("anna", PASSWORD, "viewer"), ("a b", PASSWORD, "viewer"), ("bob", "short", "viewer")):
        with pytest.raises(InvalidInput):
            await users.add(*given[:2], role=given[2])
    with pytest.raises(InvalidInput):
        await users.add("bob", PASSWORD, role="root")
    for call in (users.get("bob"), users.remove("bob"), users.set_password("bob", PASSWORD)):
        with pytest.raises(NotFound):
            await call
    with pytest.raises(CredentialsRefused):
        await users.log_in("anna", "x" * 100_000, HERE)


@pytest.mark.proves("Z10")
async def test_no_file_of_the_database_contains_a_password_or_a_session(
    services: Services, storage: Storage, tmp_path: Path
) -> None:
    await services.users.add("anna", PASSWORD, role="admin")
    opened = await services.users.log_in("anna", PASSWORD, HERE)
    await storage.close()

    files = contents(tmp_path)
    assert any(b"$argon2id$" in data for data in files)
    assert not any(PASSWORD.encode() in data or opened.secret.encode() in data for data in files)


def contents(directory: Path) -> list[bytes]:
    return [path.read_bytes() for path in directory.iterdir() if path.is_file()]
