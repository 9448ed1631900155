"""What roles, scopes and actors mean."""

from itertools import pairwise

import pytest

from foliot.domain.access.actor import APP, Actor, ActorKind, cli_actor
from foliot.domain.access.principal import DEVELOPMENT, Principal, PrincipalKind, parse_scope, trigger_scope
from foliot.domain.access.role import PEOPLE, PERMISSIONS, Permission, Role, parse_role
from foliot.errors import InvalidInput
from tests.cases import for_each


def test_every_role_of_people_can_do_more_than_the_one_before() -> None:
    for lower, higher in pairwise(PEOPLE):
        assert PERMISSIONS[lower] < PERMISSIONS[higher]


def test_only_editors_and_admins_may_change_definitions() -> None:
    assert [role for role in Role if role.may(Permission.EDIT)] == [Role.EDITOR, Role.ADMIN]


def test_only_admins_may_administer() -> None:
    assert [role for role in Role if role.may(Permission.ADMINISTER)] == [Role.ADMIN]


def test_a_worker_may_only_work() -> None:
    assert PERMISSIONS[Role.WORKER] == {Permission.WORK}
    assert not any(role.may(Permission.WORK) for role in PEOPLE)


@for_each("text", ["root", "Admin", "worker", "", 3, None])
def test_text_that_is_no_role_is_refused(text: object) -> None:
    with pytest.raises(InvalidInput, match="role"):
        parse_role(text)


def test_a_misspelled_role_gets_a_suggestion() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_role("editr")

    assert caught.value.hint == 'Did you mean "editor"?'


def test_a_trigger_scope_allows_one_job_and_nothing_else() -> None:
    principal = Principal(kind=PrincipalKind.TOKEN, name="ci", scopes=frozenset({trigger_scope("report")}))

    assert principal.may_trigger("report")
    assert not principal.may_trigger("report2")
    assert not any(principal.may(permission) for permission in Permission)


def test_a_role_beside_scopes_gives_nothing() -> None:
    scopes = frozenset({trigger_scope("report")})
    principal = Principal(kind=PrincipalKind.TOKEN, name="ci", role=Role.ADMIN, scopes=scopes)

    assert principal.permissions == frozenset()
    assert not principal.may_trigger("other")


def test_a_principal_without_role_and_scopes_may_do_nothing() -> None:
    principal = Principal(kind=PrincipalKind.TOKEN, name="ci")

    assert not any(principal.may(permission) for permission in Permission)
    assert not principal.may_trigger("report")


def test_an_operator_may_trigger_every_job() -> None:
    assert Principal(kind=PrincipalKind.USER, name="anna", role=Role.OPERATOR).may_trigger("report")


def test_a_scope_is_read_from_its_text() -> None:
    assert parse_scope(str(trigger_scope("report"))) == trigger_scope("report")


@for_each("text", ["", "trigger", "trigger:", "edit:report", "trigger:a b\n", None])
def test_text_that_is_no_scope_is_refused(text: object) -> None:
    with pytest.raises(InvalidInput):
        parse_scope(text)


def test_actors_have_a_short_text() -> None:
    assert str(APP) == "app"
    assert str(cli_actor("anna")) == "cli:anna"
    assert str(DEVELOPMENT.actor) == "development"
    assert str(Actor(ActorKind.CLI, "anna", "foliot.toml")) == "cli:anna"
    assert str(Principal(kind=PrincipalKind.TOKEN, name="deploy", role=Role.ADMIN).actor) == "token:deploy"


def test_every_kind_of_principal_is_a_kind_of_actor() -> None:
    assert {kind.value for kind in PrincipalKind} <= {kind.value for kind in ActorKind}


def test_the_name_of_an_account_becomes_one_short_line() -> None:
    assert cli_actor("an\nna\x1b[1m").name == "an?na?[1m"
    assert len(cli_actor("x" * 1000).name) == 128
    assert cli_actor("").name == "unknown"
