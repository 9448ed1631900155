"""The options of [auth]: how people and programs prove who they are."""

from typing import Final

from foliot.domain.vocabulary.field import Field, Schema
from foliot.domain.vocabulary.readers import PAIRS, TEXT

AUTH: Final = Schema(
    Field(
        "jwt_secret",
        TEXT,
        "The secret of services that sign tokens with HS256, of at least 32 bytes. Take it from the environment:"
        " `${JWT_SECRET}`.",
    ),
    Field("jwt_key", TEXT, "A PEM file with the public key of services that sign tokens with RS256 or ES256."),
    Field("jwks", TEXT, "A JWKS file with such public keys. A token names its key by `kid`."),
    Field("audience", TEXT, "The audience (`aud`) that signed tokens must name. Needed if there is a key."),
    Field("issuer", TEXT, "The issuer (`iss`) that signed tokens must name. By default any."),
    Field("name_claim", TEXT, "The claim with the name for lists and the audit trail.", '"sub"'),
    Field("role_claim", TEXT, "The claim with the role, a text or a list of texts.", '"role"'),
    Field(
        "claim_roles",
        PAIRS,
        "Values of that claim, each with its role. By default the claim has the name of a role.",
        fills="roles",
    ),
    Field(
        "certificates",
        PAIRS,
        'Subjects of client certificates, each with its role: `"CN=deploy,O=Example" = "editor"`.',
    ),
    owner="[auth]",
)
