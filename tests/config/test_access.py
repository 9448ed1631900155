"""[auth]: keys of signed tokens, and roles of claims and certificates."""

from pathlib import Path

import pytest

from foliot.config.settings import AuthSettings
from foliot.domain.access.claims import ClaimPolicy
from foliot.domain.access.role import Role
from tests.config.conftest import Good, Loader


def test_without_the_section_there_are_no_keys(good: Good) -> None:
    assert good("").auth == AuthSettings()


def test_the_section_is_read_with_paths_relative_to_the_file(good: Good, tmp_path: Path) -> None:
    text = """
    [auth]
    jwt_key = "identity.pem"
    audience = "foliot"
    issuer = "https://id.example"
    name_claim = "email"
    role_claim = "groups"
    [auth.claim_roles]
    dev = "editor"
    [auth.certificates]
    "CN=deploy,O=Example" = "operator"
    """

    assert good(text).auth == AuthSettings(
        jwt_key=tmp_path / "identity.pem",
        claims=ClaimPolicy(
            audience="foliot",
            issuer="https://id.example",
            name_claim="email",
            role_claim="groups",
            roles={"dev": Role.EDITOR},
        ),
        certificates={"CN=deploy,O=Example": Role.OPERATOR},
    )


def test_a_secret_comes_from_the_environment(good: Good) -> None:
    auth = good('[auth]\njwt_secret = "${JWT_SECRET}"\naudience = "foliot"', JWT_SECRET="x" * 32).auth

    assert auth.jwt_secret == "x" * 32
    assert auth.claims == ClaimPolicy(audience="foliot")


@pytest.mark.proves("Z35")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('jwt_key = "a.pem"', "jwt_key needs audience"),
        ('jwt_key = "a.pem"\njwks = "b.json"\naudience = "x"', "jwt_key and jwks are mutually exclusive"),
        ('audience = "x"', "audience has no effect without a key"),
        ('jwt_key = "a.pem"\naudience = "x"\nclaim_roles = { dev = "root" }', 'role "root" does not exist'),
        ('certificates = { "CN=a" = "owner" }', 'role "owner" does not exist'),
        ('algorithm = "none"', "algorithm"),
    ],
)
def test_a_section_that_would_accept_wrong_tokens_is_refused(loaded: Loader, text: str, problem: str) -> None:
    errors = [str(error) for error in loaded(f"[auth]\n{text}").errors]

    assert len(errors) == 1
    assert problem in errors[0].replace("'", '"')
