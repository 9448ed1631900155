"""Reads a configuration: files, environment, sections, jobs, and every problem in them."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from foliot.config.access import auth_settings
from foliot.config.declarations import Sources, read_declared
from foliot.config.document import Document, Node, Problems
from foliot.config.environment import report_unknown_variables, section_from
from foliot.config.files import Files, parse, read_files, read_text, sections, settings_text
from foliot.config.reading import Fields, Reading
from foliot.config.sections import (
    fanout_settings,
    notification_settings,
    outbound_settings,
    queue_settings,
    read_dsns,
    retention_settings,
    server_settings,
    storage_url,
)
from foliot.config.settings import Configuration, Loaded
from foliot.domain.chain.spec import Ceilings
from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.instant import Instant
from foliot.domain.schedule.defaults import BUILT_IN, ScheduleDefaults
from foliot.domain.vocabulary.chain import CEILINGS
from foliot.domain.vocabulary.places import DSN_SECTION, LATER_SECTIONS, ROOT, SECTIONS
from foliot.domain.vocabulary.schedule import CATCHUP, JITTER, OVERLAP
from foliot.domain.vocabulary.server import SERVER_DEFAULTS
from foliot.errors import InvalidInput, Place

_NOTHING: Final = Files((), (), (), ())


def load(path: Path | None, environ: Mapping[str, str], now: Instant) -> Loaded:
    """Read the file and all that it includes; without a file, the environment alone.

    The problems of a file, or a file that cannot be read, raise nothing: they are in the result. OSError: this process
    has no descriptor or memory left to read a file.
    """
    problems = Problems()
    reading = Reading(environ, problems, now)
    files = _NOTHING if path is None else _read_files(path, reading)
    configuration = _configuration(files, reading)
    report_unknown_variables(environ, problems)
    storage = configuration.storage if files.documents or path is None else None
    if not problems.has_errors:
        return Loaded(configuration, problems.sorted(files.paths), storage, configuration)
    settings = None if path is None else _settings_alone(path, files, Reading(environ, Problems(), now))
    if storage is None and settings is not None:
        storage = settings.storage
    return Loaded(None, problems.sorted(files.paths), storage, settings)


def _settings_alone(path: Path, files: Files, reading: Reading) -> Configuration | None:
    """Return the configuration without its jobs and workflows. None if there are errors elsewhere too."""
    main = files.documents[:1] or _settings_document(path)
    for document in main:
        _check_root(document, reading, is_main=True)
    settings, _ = _settings(main, files, reading)
    report_unknown_variables(reading.environ, reading.problems)
    return settings if main and not reading.problems.has_errors else None


def _settings_document(path: Path) -> tuple[Document, ...]:
    """Return the settings of a file that is not TOML as a whole, or nothing."""
    try:
        document = parse(settings_text(read_text(path)), path, Problems())
    except InvalidInput:
        return ()
    return () if document is None else (document,)


def _read_files(path: Path, reading: Reading) -> Files:
    try:
        return read_files(path, reading)
    except InvalidInput as error:
        reading.refuse(Place(str(path)), error)
        return _NOTHING


def _configuration(files: Files, reading: Reading) -> Configuration:
    for number, document in enumerate(files.documents):
        _check_root(document, reading, is_main=number == 0)
    settings, fields = _settings(files.documents[:1], files, reading)
    server = settings.server
    reading.sandbox_policy = server.sandbox_policy
    sources = Sources(
        jobs=_tables(files.documents, "jobs", reading),
        workflows=_tables(files.documents, "workflows", reading),
        chains=_tables(files.documents, "chains", reading),
        ceilings=settings.ceilings,
        defaults=_defaults(fields),
        queues=server.queues if "worker" in server.roles else None,
    )
    return replace(settings, declared=read_declared(sources, reading))


def _settings(main: tuple[Document, ...], files: Files, reading: Reading) -> tuple[Configuration, Mapping[str, Fields]]:
    """Return the configuration without jobs and workflows, and the options of its sections."""
    fields = {name: _section(name, main, reading) for name in SECTIONS}
    server = server_settings(fields["server"], reading)
    settings = Configuration(
        server=server,
        storage=_storage(fields["storage"], main, reading),
        queue=queue_settings(fields["queue"], reading),
        retention=retention_settings(fields["retention"], reading),
        outbound=outbound_settings(fields["outbound"], server, reading),
        schedule_defaults=ScheduleDefaults(**_defaults(fields).fill((OVERLAP, CATCHUP, JITTER))).over(BUILT_IN),
        fanout=fanout_settings(fields["fanout"]),
        notifications=notification_settings(fields["notifications"], server),
        auth=auth_settings(fields["auth"], reading),
        ceilings=replace(Ceilings(), **fields["chain_ceilings"].fill(CEILINGS)),
        dsns=_dsns(main, reading),
        files=files.paths,
        blank=files.blank,
        watched=files.directories,
    )
    return settings, fields


def _check_root(document: Document, reading: Reading, *, is_main: bool) -> None:
    """Report keys that do not belong at the top of a file, and sections that arrive later."""
    root = Node(document.tree, document)
    reading.table(root, ROOT)
    for name in LATER_SECTIONS:
        if name in document.tree:
            message = f"{name} arrives with a later version; this is ignored"
            reading.problems.warning(root.child(name).place, message, "Leave it out until then.")
    for name in (*SECTIONS, DSN_SECTION):
        if name in document.tree and not is_main:
            hint = "An included file has [[jobs]], [[workflows]] and [[chains]] only."
            reading.problems.error(root.child(name).place, f"[{name}] belongs into the main file", hint)


def _section(name: str, main: tuple[Document, ...], reading: Reading) -> Fields:
    """Return the options of a section: those of the environment over those of the file."""
    fields = Fields()
    for node in sections(main, name):
        fields |= reading.table(node, SECTIONS[name])
    return Fields(fields | reading.table(section_from(reading.environ, name), SECTIONS[name]))


def _dsns(main: tuple[Document, ...], reading: Reading) -> dict[str, str]:
    return {name: dsn for node in sections(main, DSN_SECTION) for name, dsn in read_dsns(node, reading).items()}


def _defaults(fields: Mapping[str, Fields]) -> Fields:
    """Return [defaults] over [server] default_..."""
    server = fields["server"]
    named = {field.attribute: server[field.name] for field in SERVER_DEFAULTS if field.name in server}
    return Fields(named | fields["defaults"])


def _tables(documents: Iterable[Document], name: str, reading: Reading) -> Iterator[Node]:
    for node in sections(tuple(documents), name):
        if isinstance(node.value, list):
            yield from node.children()
        else:
            reading.problems.error(node.place, f"{name} must be a list of tables", f"Write [[{name}]].")


def _storage(fields: Fields, main: tuple[Document, ...], reading: Reading) -> str:
    if not main and not fields:
        return DEFAULT_STORAGE
    return storage_url(fields, main[0].directory if main else Path.cwd(), reading)
