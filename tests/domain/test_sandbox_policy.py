"""The limits that a worker sets for jobs."""

import pytest

from foliot.domain.job.sandbox_policy import ANYTHING, SandboxPolicy
from foliot.errors import InvalidJob
from tests.cases import for_each

LISTED = SandboxPolicy.of(users=["backup"], modules=["shop", "lib.tasks"])


@for_each("call", ["shop:sell", "shop.tasks:sell", "shop.tasks.deep:sell", "lib.tasks:run", None])
@for_each("user", ["backup", None])
def test_listed_users_and_modules_are_allowed(user: str | None, call: str | None) -> None:
    LISTED.check(user=user, call=call)


@pytest.mark.proves("Z56")
@pytest.mark.parametrize("call", ["os:system", "shopping:sell", "lib:run", "lib.task:run", "x.shop:sell"])
def test_modules_that_are_not_on_the_list_are_refused(call: str) -> None:
    with pytest.raises(InvalidJob, match=f"may not call module '{call.partition(':')[0]}'") as refused:
        LISTED.check(call=call)

    assert refused.value.field == "call"
    assert "Allowed: lib.tasks, shop." in refused.value.hint


@pytest.mark.proves("Z44")
@pytest.mark.parametrize("user", ["root", "Backup", "", "backup2"])
def test_users_that_are_not_on_the_list_are_refused(user: str) -> None:
    with pytest.raises(InvalidJob, match="may not run as user") as refused:
        LISTED.check(user=user)

    assert refused.value.field == "user"
    assert "Allowed: backup." in refused.value.hint


def test_an_empty_list_allows_nothing_and_no_list_allows_everything() -> None:
    ANYTHING.check(user="root", call="os:system")
    with pytest.raises(InvalidJob, match="may not run as user") as refused:
        SandboxPolicy.of(users=[]).check(user="backup", call="os:system")

    assert refused.value.hint.startswith("Allowed: none.")
