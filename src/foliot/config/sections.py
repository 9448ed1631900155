"""Converts the sections about the server to settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from msgspec.structs import replace

from foliot.config.document import Node
from foliot.config.reading import Fields, Reading
from foliot.config.settings import (
    FanoutSettings,
    OutboundSettings,
    QueueSettings,
    RetentionSettings,
    ServerSettings,
)
from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.fanout.dsn import engine_of, sqlite_path
from foliot.domain.fanout.inputs import check_dsn_name
from foliot.domain.file_url import parse_file_url
from foliot.domain.job.job import check_name
from foliot.domain.notification.rule import Notify
from foliot.domain.notification.settings import NotificationSettings
from foliot.domain.outbound.policy import read_allowed
from foliot.domain.schedule.firing import SchedulerSettings
from foliot.domain.vocabulary.notification import NOTIFY
from foliot.domain.vocabulary.readers import TEXT
from foliot.domain.vocabulary.server import FANOUT, NODE, RETENTION, SCHEDULER, WEB
from foliot.errors import InvalidInput, suggest

SCHEMES: Final = ("sqlite", "postgresql", "postgres")
_BROKERS: Final = ("nats", "redis", "rediss")
_DATABASE: Final = "foliot.db"


def server_settings(fields: Fields, reading: Reading) -> ServerSettings:
    for name in (field.name for field in WEB if field.name in fields and not field.has_effect):
        message = f"{name} is not supported yet: it arrives with a later version"
        reading.problems.warning(fields[name].place, message, "Leave it out until then.")
    _check_tls(fields, reading)
    for queue in fields.value("queues", ()):
        _check(reading, fields, "queues", lambda name=queue: check_name("queue", name))
    for name in ("roles", "queues"):
        if fields.value(name) == []:
            reading.problems.error(fields[name].place, f"{name} must not be empty", "Name one, or leave it out.")
    return ServerSettings(
        scheduler=replace(SchedulerSettings(), **fields.fill(SCHEDULER)),
        **_values(fields.fill((*NODE, *WEB))),
    )


def _check_tls(fields: Fields, reading: Reading) -> None:
    for name, needed in (("tls_cert", "tls_key"), ("tls_key", "tls_cert"), ("tls_client_ca", "tls_cert")):
        if fields.value(name) and not fields.value(needed):
            reading.problems.error(fields[name].place, f"{name} needs {needed}", "Give both, or none.")


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, with each item of a list once."""
    return {name: tuple(dict.fromkeys(value)) if isinstance(value, list) else value for name, value in given.items()}


def retention_settings(fields: Fields, reading: Reading) -> RetentionSettings:
    settings = RetentionSettings()._replace(**fields.fill(RETENTION))
    runs, ticks = settings.runs_age, settings.ticks_age
    if ticks is not None and (runs is None or ticks < runs):
        place = fields["ticks" if "ticks" in fields else "runs"].place
        hint = "What ran can then not be compared with what was planned: keep ticks as long as runs."
        reading.problems.warning(place, "ticks are forgotten before their runs", hint)
    return settings


def outbound_settings(fields: Fields, server: ServerSettings, reading: Reading) -> OutboundSettings:
    for entry in fields.value("allow", ()):
        _check(reading, fields, "allow", lambda text=entry: read_allowed(text))
    return OutboundSettings(
        block_private=fields.value("block_private", server.mode == "production"),
        allow=tuple(fields.value("allow", ())),
    )


def fanout_settings(fields: Fields) -> FanoutSettings:
    """Return the settings of fanouts. Paths in a file are relative to that file."""
    given = fields.fill(FANOUT)
    if "file_roots" in given:
        directory = fields["file_roots"].node.origin.directory
        given["file_roots"] = tuple(directory / path for path in given["file_roots"])
    return FanoutSettings(**given)


def notification_settings(fields: Fields, server: ServerSettings) -> NotificationSettings:
    return NotificationSettings(
        defaults=Notify(**fields.fill(NOTIFY)),
        secrets=fields.value("webhook_secret", ()),
        public_url=server.public_url,
    )


def read_dsns(node: Node, reading: Reading) -> dict[str, str]:
    """Return the DSNs of a section, by name."""
    dsns = {}
    for name, found in reading.names(node, TEXT).items():
        try:
            check_dsn_name(name)
            dsns[name] = _absolute_dsn(found.value, found.node.origin.directory)
        except InvalidInput as error:
            reading.refuse(found.place, error)
    return dsns


def _absolute_dsn(dsn: str, directory: Path) -> str:
    """Return a DSN with the absolute path of its file. Raise InvalidInput if it is not a DSN."""
    if dsn.startswith("sqlite://"):
        dsn = sqlite_url(directory / sqlite_path(dsn))
    engine_of(dsn)
    return dsn


def queue_settings(fields: Fields, reading: Reading) -> QueueSettings:
    url = fields.value("url", "storage")
    scheme = url.partition("://")[0]
    if scheme in _BROKERS:
        hint = "Until then workers are notified by the database."
        reading.problems.warning(fields["url"].place, f"queues on {scheme} arrive with a later version", hint)
    elif url != "storage":
        reading.problems.error(fields["url"].place, "this is no known queue", 'Use "storage".')
    return QueueSettings()


def storage_url(fields: Fields, directory: Path, reading: Reading) -> str:
    """Return the URL of the database. Paths in a file are relative to that file, others to the working directory."""
    if "log_dir" in fields:
        message = "logs are kept in the database; this is ignored"
        reading.problems.warning(fields["log_dir"].place, message, "Leave it out; read them with: foliot logs RUN")
    given = [name for name in ("url", "db_path", "data_dir") if name in fields]
    if not given:
        return sqlite_url(directory / _DATABASE)
    chosen = given[0]
    if "url" in given[:1] and len(given) > 1:
        hint = "Keep one of them."
        reading.problems.error(fields[given[1]].place, f"url and {given[1]} both say where the database is", hint)
    found = fields[chosen]
    if chosen == "url":
        return _checked_url(found.value, found.node, reading)
    path = found.node.origin.directory / found.value
    return sqlite_url(path / _DATABASE if chosen == "data_dir" else path)


def _checked_url(url: str, node: Node, reading: Reading) -> str:
    # The text is never shown: it may hold a password.
    scheme, colon, _ = url.partition("://")
    if not colon or scheme not in SCHEMES:
        hint = suggest(scheme, SCHEMES, otherwise="Use sqlite:///foliot.db or postgresql://user@host/database.")
        reading.problems.error(node.place, "the URL does not name a supported database", hint)
        return DEFAULT_STORAGE
    if scheme != "sqlite":
        return url
    try:
        path, query = parse_file_url(url)
    except InvalidInput as error:
        reading.refuse(node.place, error)
        return DEFAULT_STORAGE
    return sqlite_url(node.origin.directory / path, query)


def sqlite_url(path: Path, query: str = "") -> str:
    return f"sqlite:///{quote(str(path))}{'?' * bool(query)}{query}"


def _check(reading: Reading, fields: Fields, name: str, check: Any) -> None:
    try:
        check()
    except InvalidInput as error:
        reading.refuse(fields[name].place, error)
