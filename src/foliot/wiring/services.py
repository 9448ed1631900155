"""Builds the services on a database, and the check of signed tokens."""

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from foliot.adapters.clock import SystemClock
from foliot.adapters.jwt import JwtVerifier, read_key_set, read_public_key, secret_key
from foliot.adapters.passwords import Argon2Passwords
from foliot.adapters.secrets import KeyStore
from foliot.domain.access.actor import APP, Actor
from foliot.domain.access.login import FailureLimit
from foliot.domain.file_url import parse_file_url
from foliot.domain.ids import IdSource
from foliot.ports.clock import Clock
from foliot.ports.secrets import Secrets
from foliot.ports.storage import Storage
from foliot.service.build import ServiceParts, build_services_on
from foliot.service.commands.schedules import DefaultLayers
from foliot.service.commands.users import PasswordCheck
from foliot.service.services import Services
from foliot.wiring.definitions import JsonDocuments, TomlTexts
from foliot.wiring.storage import open_storage

if TYPE_CHECKING:
    from foliot.config.settings import AuthSettings


async def open_services(url: str, clock: Clock | None = None, *, create: bool = True, actor: Actor = APP) -> Services:
    """Open the storage at a URL, and build the services of an actor."""
    storage = await open_storage(url, clock or SystemClock(), create=create)
    # Random bits come from the system each time: a forked child must not repeat the ids of its parent.
    keys = KeyStore(os.environ, _key_file(url))
    services = build_services(storage, storage.clock, IdSource(lambda: secrets.randbits(80)), keys)
    return services.acting_as(actor)


def _key_file(url: str) -> Path | None:
    """Return the file with the key for secrets, beside the database; None for a database on a server."""
    return Path(f"{Path(parse_file_url(url).path).resolve()}-key") if url.startswith("sqlite:") else None


def build_services(storage: Storage, clock: Clock, ids: IdSource, keys: Secrets | None = None) -> Services:
    """Build every service on an open storage. Without `keys`, the environment must name a key to store secrets."""
    parts = ServiceParts(
        clock=clock,
        ids=ids,
        keys=keys or KeyStore(os.environ),
        documents=JsonDocuments(),
        texts=TomlTexts(),
        passwords=PasswordCheck(Argon2Passwords()),
        default_layers=DefaultLayers(),
        failures=FailureLimit(),
    )
    return build_services_on(storage, parts)


def build_jwt_verifier(settings: "AuthSettings") -> JwtVerifier | None:
    """Build the check of signed tokens of other services. None: [auth] has no key for them."""
    if settings.claims is None:
        return None
    if settings.jwt_secret is not None:
        keys = [secret_key(settings.jwt_secret)]
    elif settings.jwt_key is not None:
        keys = [read_public_key(settings.jwt_key)]
    else:
        keys = [] if settings.jwks is None else read_key_set(settings.jwks)
    return JwtVerifier(keys, settings.claims)
