"""What a verified token, or a client certificate, proves."""

from typing import Any

import pytest

from foliot.domain.access.claims import ClaimPolicy, principal_of_claims, principal_of_subject
from foliot.domain.access.principal import Principal, PrincipalKind
from foliot.domain.access.role import Role
from foliot.domain.instant import SECOND, Instant
from tests.cases import for_each

NOW = Instant(1_800_000_000 * SECOND)
SECONDS = NOW // SECOND
POLICY = ClaimPolicy(audience="foliot")
CLAIMS: dict[str, Any] = {"aud": "foliot", "exp": SECONDS + 60, "sub": "billing", "role": "operator"}


def test_a_token_gives_the_name_and_the_role_that_it_claims() -> None:
    assert principal_of_claims(CLAIMS, POLICY, NOW) == Principal(
        kind=PrincipalKind.JWT, name="billing", role=Role.OPERATOR
    )


@pytest.mark.proves("Z35")
@for_each(
    "claims",
    [
        {"aud": "other"},
        {"aud": None},
        {"aud": ["a", 1]},
        {"exp": None},
        {"exp": SECONDS - 60},
        {"exp": "never"},
        {"exp": True},
        {"exp": float("nan")},
        {"exp": 10**30},
        {"nbf": SECONDS + 61},
        {"nbf": "soon"},
        {"role": "root"},
        {"role": "worker"},
        {"role": {"admin": 1}},
        {"role": None},
        {"sub": ""},
        {"sub": None},
        {"sub": "a\nb"},
        {"sub": "x" * 129},
    ],
)
def test_a_token_with_such_claims_is_refused(claims: dict[str, Any]) -> None:
    assert principal_of_claims({**CLAIMS, **claims}, POLICY, NOW) is None


@pytest.mark.proves("Z35")
@for_each("missing", ["aud", "exp", "sub", "role"])
def test_a_token_without_a_needed_claim_is_refused(missing: str) -> None:
    assert principal_of_claims({name: CLAIMS[name] for name in CLAIMS if name != missing}, POLICY, NOW) is None


@for_each("claims", [{"aud": ["x", "foliot"]}, {"exp": SECONDS - 59}, {"nbf": SECONDS + 60}, {"exp": SECONDS + 0.5}])
def test_a_list_of_audiences_and_a_skew_of_a_minute_are_accepted(claims: dict[str, Any]) -> None:
    assert principal_of_claims({**CLAIMS, **claims}, POLICY, NOW) is not None


def test_a_configured_issuer_must_match() -> None:
    policy = ClaimPolicy(audience="foliot", issuer="https://id.example")

    assert principal_of_claims(CLAIMS, policy, NOW) is None
    assert principal_of_claims({**CLAIMS, "iss": "https://other.example"}, policy, NOW) is None
    assert principal_of_claims({**CLAIMS, "iss": "https://id.example"}, policy, NOW) is not None


def test_groups_are_mapped_to_the_highest_role_and_nothing_else_counts() -> None:
    policy = ClaimPolicy(
        audience="foliot", role_claim="groups", name_claim="email", roles={"ops": Role.OPERATOR, "dev": Role.EDITOR}
    )
    claims = {**CLAIMS, "groups": ["ops", "dev", "x", 7], "email": "anna@example.org"}

    found = principal_of_claims(claims, policy, NOW)
    assert found is not None
    assert (found.name, found.role) == ("anna@example.org", Role.EDITOR)
    assert principal_of_claims({**claims, "groups": ["admin"]}, policy, NOW) is None


def test_a_certificate_has_the_role_of_its_subject() -> None:
    roles = {"CN=deploy,O=Example": Role.EDITOR}

    assert principal_of_subject("CN=deploy,O=Example", roles) == Principal(
        kind=PrincipalKind.CERTIFICATE, name="CN=deploy,O=Example", role=Role.EDITOR
    )
    assert principal_of_subject("CN=deploy,O=Examplf", roles) is None
    assert principal_of_subject("", {}) is None
