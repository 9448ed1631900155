"""[server] [storage] [queue] [retention] [outbound], and environment variables that override them."""

from pathlib import Path

import pytest

from foliot.config import Configuration, RetentionSettings, ServerSettings, load
from foliot.config.sections import SCHEMES
from foliot.domain.instant import DAY, MINUTE, SECOND
from foliot.domain.schedule.firing import SchedulerSettings
from foliot.engine.scheduler.janitor import RETENTION
from foliot.engine.settings import Role, Settings
from foliot.ports.upkeep import Retention
from foliot.testing.clock import START
from foliot.wiring.storage import STORAGES
from tests.config.conftest import Good, Loader


def test_without_a_file_the_defaults_apply() -> None:
    assert load(None, {}, START).configuration == Configuration()


def test_the_defaults_are_those_of_the_engine() -> None:
    server, settings = ServerSettings(), Settings(label="")

    assert Retention(*RetentionSettings()) == RETENTION
    assert list(RetentionSettings._fields) == list(Retention._fields)[: len(RetentionSettings._fields)]
    assert set(server.roles) == set(Role)
    for name in ("queues", "slots", "lease", "poll", "drain", "scheduler"):
        assert getattr(server, name) == getattr(settings, name)


def test_the_databases_are_those_that_can_be_opened() -> None:
    assert set(SCHEMES) == set(STORAGES)


@pytest.mark.proves("R4-60")
def test_the_settings_of_the_scheduler_have_the_defaults_of_its_specification() -> None:
    assert SchedulerSettings() == SchedulerSettings(poll=SECOND, lookahead=MINUTE, max_catchup_per_tick=100)
    assert ServerSettings().scheduler == SchedulerSettings()


@pytest.mark.proves("R4-60")
def test_settings_of_the_scheduler_are_read(good: Good) -> None:
    server = good("[server]\ntick_ms = 250\nlookahead_ms = 5000\nmax_catchup_per_tick = 7\nmisfire_grace = 9").server

    assert (server.scheduler.poll, server.scheduler.lookahead, server.scheduler.max_catchup_per_tick) == (250, 5_000, 7)
    assert server.scheduler.grace == 9 * SECOND


@pytest.mark.proves("R4-60")
def test_the_seeds_variable_names_are_accepted(good: Good) -> None:
    names = {"FOLIOT_TICK_MS": "200", "FOLIOT_LOOKAHEAD_MS": "300", "FOLIOT_MAX_CATCHUP_PER_TICK": "4"}

    scheduler = good("[server]\ntick_ms = 250", **names).server.scheduler

    assert (scheduler.poll, scheduler.lookahead, scheduler.max_catchup_per_tick) == (200, 300, 4)


@pytest.mark.proves("R4-60")
def test_the_seeds_schedule_defaults_are_accepted_in_file_and_variables(good: Good) -> None:
    text = """
        [server]
        default_overlap_policy = "queue"
        default_catchup_policy = "all"
        default_jitter_ms = 10
        [[jobs]]
        id = "a"
        command = "x"
        schedule = "@daily"
    """

    [spec] = good(text).declared.schedules.values()
    [other] = good(text, FOLIOT_DEFAULT_CATCHUP_POLICY="once").declared.schedules.values()

    assert (spec.overlap, spec.catchup, spec.jitter) == ("queue", "all", 10)
    assert (other.overlap, other.catchup) == ("queue", "once")


@pytest.mark.proves("R4-60")
def test_schedules_that_programs_create_have_the_defaults_of_the_file(good: Good) -> None:
    text = '[server]\ndefault_overlap_policy = "queue"\ndefault_jitter_ms = 10\n[defaults]\noverlap = "allow"'

    defaults = good(text, FOLIOT_DEFAULT_CATCHUP_POLICY="once").schedule_defaults

    assert defaults.options == {"overlap": "allow", "catchup": "once", "jitter": 10}


def test_settings_of_the_server_are_read(good: Good) -> None:
    server = good("""
        [server]
        name = "box"
        mode = "development"
        roles = ["worker"]
        queues = ["mail", "default", "mail"]
        concurrency = 3
        lease = "2m"
        poll = 0.5
        drain = 0
        watch = true
        loop = "asyncio"
        log_format = "json"
        log_level = "debug"
    """).server

    assert (server.name, server.mode, server.roles, server.slots) == ("box", "development", ("worker",), 3)
    assert server.queues == ("mail", "default")
    assert (server.lease, server.poll, server.drain) == (2 * MINUTE, 500, 0)
    assert (server.watch, server.loop, server.log_format, server.log_level) == (True, "asyncio", "json", "debug")


@pytest.mark.parametrize("key", ["admin_token = 'x'", "session_secret = 'x'"])
def test_settings_of_the_http_server_are_a_warning(loaded: Loader, key: str) -> None:
    result = loaded(f"[server]\n{key}")

    assert result.configuration is not None
    [warning] = result.problems
    assert (warning.severity, warning.line) == ("warning", 2)
    assert warning.message.startswith(f"{key.partition(' ')[0]} is not supported yet")


def test_a_variable_for_the_http_server_is_a_warning(loaded: Loader) -> None:
    [warning] = loaded("", FOLIOT_SERVER_SESSION_SECRET="x").problems

    assert (warning.severity, warning.key) == ("warning", "FOLIOT_SERVER_SESSION_SECRET")


@pytest.mark.parametrize(
    "section", ["[server]\nadmin_tokens = 1", "[storage]\nlog_dirs = 1", "[storage]\nadmin_token = 1"]
)
def test_no_hint_names_an_option_without_an_effect(loaded: Loader, section: str) -> None:
    [error] = loaded(section).errors

    assert "admin_token" not in error.hint
    assert "log_dir" not in error.hint
    assert "[server]" not in error.hint


# -- storage


def test_a_relative_database_is_beside_the_file(good: Good, tmp_path: Path) -> None:
    assert good('[storage]\nurl = "sqlite:///data/x.db"').storage == f"sqlite:///{tmp_path}/data/x.db"
    assert good("").storage == f"sqlite:///{tmp_path}/foliot.db"


@pytest.mark.parametrize(
    ("section", "path"),
    [
        ('db_path = "x.db"', "{here}/x.db"),
        ('data_dir = "data"', "{here}/data/foliot.db"),
        ('data_dir = "/var/lib/foliot"', "/var/lib/foliot/foliot.db"),
        ('url = "sqlite:////var/x.db?synchronous=NORMAL"', "/var/x.db?synchronous=NORMAL"),
        ('url = "sqlite:///a%20b.db"', "{here}/a%20b.db"),
    ],
)
def test_a_database_may_be_named_in_several_ways(good: Good, tmp_path: Path, section: str, path: str) -> None:
    assert good(f"[storage]\n{section}").storage == f"sqlite:///{path.format(here=tmp_path)}"


def test_the_url_of_a_database_server_is_unchanged(good: Good) -> None:
    url = "postgresql://me:secret@host/db?sslmode=require"

    assert good(f'[storage]\nurl = "{url}"').storage == url


def test_a_variable_overrides_the_database(good: Good, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    text = '[storage]\nurl = "sqlite:///x.db"'

    for name in ("FOLIOT_STORAGE", "FOLIOT_STORAGE_URL"):
        assert good(text, **{name: "sqlite:///y.db"}).storage == f"sqlite:///{tmp_path}/elsewhere/y.db"
    assert good(text, FOLIOT_STORAGE="").storage == f"sqlite:///{tmp_path}/x.db", "an empty one is not set"


@pytest.mark.parametrize("url", ["mysql://me:secret@host/x", "secret", "sqlite://secret/x", "sqlite:///"])
def test_an_invalid_database_url_is_refused_and_not_shown(loaded: Loader, url: str) -> None:
    [error] = loaded(f'[storage]\nurl = "{url}"').errors

    assert error.line == 2
    assert "secret" not in str(error)


def test_url_and_path_of_a_database_are_mutually_exclusive(loaded: Loader) -> None:
    [error] = loaded('[storage]\nurl = "sqlite:///x.db"\ndb_path = "y.db"').errors

    assert (error.line, error.message) == (3, "url and db_path both say where the database is")


# -- queue, retention, outbound


def test_the_queue_is_the_database(loaded: Loader) -> None:
    assert loaded('[queue]\nurl = "storage"').problems == ()
    assert len(loaded('[queue]\nurl = "nats://localhost"').warnings) == 1
    assert len(loaded('[queue]\nurl = "carrier pigeon"').errors) == 1


def test_ages_are_durations_or_never(good: Good) -> None:
    retention = good("""
        [retention]
        runs = "10d"
        runs_per_job = 0
        logs = 3600
        ticks = "never"
        events = 0
    """).retention

    assert retention == RetentionSettings(10 * DAY, None, 3_600_000, None, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("runs", "ticks"), [("40d", "30d"), ("never", "400d")])
def test_ticks_should_outlive_their_runs(loaded: Loader, runs: str, ticks: str) -> None:
    [warning] = loaded(f'[retention]\nruns = "{runs}"\nticks = "{ticks}"').warnings

    assert (warning.line, warning.message) == (3, "ticks are forgotten before their runs")


@pytest.mark.parametrize(("mode", "blocks"), [("production", True), ("development", False)])
def test_private_addresses_are_blocked_in_production(good: Good, mode: str, blocks: bool) -> None:
    assert good(f'[server]\nmode = "{mode}"').outbound.block_private is blocks


def test_private_addresses_can_be_allowed(good: Good) -> None:
    outbound = good('[outbound]\nblock_private = true\nallow = ["10.0.0.0/8", "intranet.example"]').outbound

    assert (outbound.block_private, outbound.allow) == (True, ("10.0.0.0/8", "intranet.example"))


def test_an_invalid_address_is_refused(loaded: Loader) -> None:
    [error] = loaded('[outbound]\nallow = ["10.0.0.0/99"]').errors

    assert error.line == 2


# -- environment


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("FOLIOT_SERVER_CONCURRENCY", "8", "slots", 8),
        ("FOLIOT_SERVER_WATCH", "yes", "watch", True),
        ("FOLIOT_SERVER_QUEUES", "a, b", "queues", ("a", "b")),
        ("FOLIOT_SERVER_LEASE", "90", "lease", 90_000),
        ("FOLIOT_SERVER_LEASE", "2m", "lease", 120_000),
        ("FOLIOT_SERVER_NAME", "box", "name", "box"),
        ("FOLIOT_SERVER_LABEL", "box", "name", "box"),
    ],
)
def test_a_variable_overrides_the_file(good: Good, variable: str, text: str, field: str, value: object) -> None:
    server = good('[server]\nconcurrency = 1\nwatch = false\nqueues = ["c"]\nlease = 5', **{variable: text}).server

    assert getattr(server, field) == value


def test_an_invalid_variable_is_reported_by_name(loaded: Loader) -> None:
    [error] = loaded("", FOLIOT_SERVER_CONCURRENCY="many").errors

    assert (error.file, error.key) == ("environment", "FOLIOT_SERVER_CONCURRENCY")
    assert error.message == "'many' is not a whole number"


def test_a_variable_without_an_option_is_a_warning(loaded: Loader) -> None:
    [warning] = loaded("", FOLIOT_SERVER_CONCURENCY="1", FOLIOT_RUN_ID="x", FOLIOT_CONFIG="y").problems

    assert (warning.key, warning.hint) == ("FOLIOT_SERVER_CONCURENCY", 'Did you mean "concurrency"?')
