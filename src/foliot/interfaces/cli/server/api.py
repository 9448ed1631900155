"""The HTTP API of a server process: its address, its listener, and what it needs to know about the process.

The modules of the API are imported here only when a process serves it: other commands start faster without them.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from foliot.config import Configuration, Loaded
from foliot.config.places import find_definition
from foliot.errors import InvalidInput
from foliot.service.services import Services
from foliot.wiring.services import build_jwt_verifier

if TYPE_CHECKING:
    from foliot.interfaces.api.access import StoredAccess
    from foliot.interfaces.api.call import Context
    from foliot.interfaces.api.listener import Listener
    from foliot.service.answers import SampleAnswer

log = logging.getLogger("foliot")

_FIRST_CREDENTIALS: Final = (
    "Create a token with: foliot token create --role admin, or a user with: foliot user add. "
    "Or listen on 127.0.0.1 only."
)


def bind_api(configuration: Configuration, options: Mapping[str, Any]) -> "Listener | None":
    """Bind the socket of the API, before anything starts. None: the default port is in use, which is logged."""
    from foliot.interfaces.api.listener import Address, PortInUse, bind

    server = configuration.server
    given = options.get("port")
    address = Address(
        host=options.get("host") or server.host,
        port=server.port if given is None else given,
        base_path=server.base_path,
        tls_cert=server.tls_cert,
        tls_key=server.tls_key,
        tls_client_ca=server.tls_client_ca,
    )
    try:
        return bind(address)
    except PortInUse as error:
        if address.port is not None:
            raise
        hint = "The server works without the HTTP API. Give another port with --port, or use --no-api."
        log.warning("api_not_started", extra={"problem": error.message, "hint": hint})
        return None


class Api:
    """The HTTP API of this process. Without a listener it does nothing."""

    def __init__(
        self, listener: "Listener | None", services: Services, configuration: Configuration, path: Path | None
    ) -> None:
        self._listener = listener
        self._services = services
        self._configuration = configuration
        self._path = path

    @asynccontextmanager
    async def serving(self, worker_ids: Callable[[], set[str]]) -> AsyncIterator[None]:
        """Serve the API during the block. `worker_ids`: the workers of this process."""
        if self._listener is None:
            yield
            return
        await self._listener.start(self._context(self._listener.host, worker_ids))
        log.info("api_started", extra={"url": self._listener.url, "docs": f"{self._listener.url}/api/docs"})
        try:
            yield
        finally:
            await self._listener.stop()

    async def check(self) -> None:
        """Refuse to serve an address that other machines can reach, if there are no credentials."""
        if self._listener is None:
            return
        from foliot.interfaces.api.access import is_loopback

        host = self._listener.host
        if not is_loopback(host) and not await _access(self._services, self._configuration, host).has_credentials():
            raise InvalidInput(
                f"the HTTP API cannot listen on {host[:128]}: there are no credentials, so anyone could use it",
                hint=_FIRST_CREDENTIALS,
                field="host",
            )

    def _context(self, host: str, worker_ids: Callable[[], set[str]]) -> "Context":
        from foliot.interfaces.api.call import Context

        server = self._configuration.server
        return Context(
            services=self._services,
            authenticator=_access(self._services, self._configuration, host),
            base_path=server.base_path,
            public_url=server.public_url,
            host=host,
            is_local=lambda worker_id: worker_id in worker_ids(),
            find_place=None if self._path is None else _finder(self._path),
            doctor=_doctor(self._services, self._configuration, self._path),
            send_samples=partial(_send_samples, self._configuration),
        )


def _access(services: Services, configuration: Configuration, host: str) -> "StoredAccess":
    from foliot.interfaces.api.access import SignedCredentials, StoredAccess, is_loopback

    verifier = build_jwt_verifier(configuration.auth)
    signed = SignedCredentials(
        None if verifier is None else verifier.verify,
        # Without a list of signers, no certificate of a client is checked.
        configuration.auth.certificates if configuration.server.tls_client_ca else {},
    )
    is_development = configuration.server.mode != "production"
    return StoredAccess(services, may_be_development=is_development and is_loopback(host), signed=signed)


async def _send_samples(configuration: Configuration, services: Services, job_id: str | None) -> "list[SampleAnswer]":
    from foliot.interfaces.cli.open_storage import send_tests

    return await send_tests(configuration, services, job_id)


def _finder(path: Path) -> Any:
    async def find(name: str) -> str | None:
        return await asyncio.to_thread(find_definition, path, os.environ, name)

    return find


def _doctor(services: Services, configuration: Configuration, path: Path | None) -> Any:
    async def examine() -> dict[str, Any]:
        # Imported when it is asked for: it loads many modules.
        from foliot.interfaces.cli.commands.doctor import examine_services

        return await examine_services(services, path, Loaded(configuration, (), None, configuration))

    return examine
