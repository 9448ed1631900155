"""[server] allow_users and allow_modules are checked for each job."""

import pytest

from tests.config.conftest import Loader

LISTS = '[server]\nallow_users = ["backup"]\nallow_modules = ["shop"]\n'


@pytest.mark.proves("Z44", "Z56")
@pytest.mark.parametrize(
    ("job", "line", "message"),
    [
        ('command = "x"\nuser = "root"', 7, "jobs may not run as user 'root'"),
        ('kind = "agent"\nprompt = "x"\nuser = "root"', 8, "jobs may not run as user 'root'"),
        ('kind = "python"\ncall = "os:system"', 7, "jobs may not call module 'os'"),
        ('kind = "python"\ncommand = "os:system"', 7, "jobs may not call module 'os'"),
    ],
)
def test_a_job_with_a_forbidden_user_or_module_is_refused_with_its_line(
    loaded: Loader, job: str, line: int, message: str
) -> None:
    [error] = loaded(f'{LISTS}[[jobs]]\nid = "a"\n{job}').errors

    assert (error.line, error.message) == (line, message)
    assert "[server]" in error.hint


@pytest.mark.proves("Z56")
def test_a_step_with_a_forbidden_module_is_refused(loaded: Loader) -> None:
    [error] = loaded(
        f'{LISTS}[[workflows]]\nid = "etl"\n[[workflows.steps]]\nname = "a"\nkind = "python"\ncall = "os:system"'
    ).errors

    assert error.message == "jobs may not call module 'os'"


@pytest.mark.parametrize("job", ['command = "x"\nuser = "backup"', 'kind = "python"\ncall = "shop.tasks:sell"'])
def test_allowed_users_and_modules_load(loaded: Loader, job: str) -> None:
    assert loaded(f'{LISTS}[[jobs]]\nid = "a"\n{job}').errors == ()


@pytest.mark.parametrize("name", ["shop:sell", "", "../shop", "shop.", "a b"])
def test_an_invalid_module_name_is_refused(loaded: Loader, name: str) -> None:
    [error] = loaded(f'[server]\nallow_modules = ["{name}"]\n').errors

    assert error.message == f"{name!a} is not the name of a module"
