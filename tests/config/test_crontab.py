"""A crontab becomes a configuration whose jobs do what cron did."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import cron
from foliot.config import Configuration, load
from foliot.config.crontab import Imported, write_crontabs
from foliot.domain.crontab import expand_run_parts, parse_crontab
from foliot.domain.crontab.job_id import name_of
from foliot.domain.schedule.schedule import Catchup, Overlap, ScheduleSpec
from foliot.testing.clock import START
from tests.cases import for_each
from tests.config.crontab_corpus import BAD, CORPUS, CRON_ENV, HOME, BadCase, Case

HOMES = {"ann": HOME, "root": "/root", "www-data": "/var/www"}
BERLIN = "Europe/Berlin"


def imported(text: str, *, owner: str | None = "ann", scripts: Mapping[str, list[str]] | None = None) -> Imported:
    crontab = parse_crontab(text, "crontab", owner=owner)
    if scripts is not None:
        crontab = expand_run_parts(crontab, scripts.get)
    return write_crontabs([crontab], timezone=BERLIN, home_of=HOMES.get, own=owner)


def configured(text: str, directory: Path) -> Configuration:
    """Return the configuration, which must have neither errors nor warnings."""
    file = directory / "foliot.toml"
    file.write_text(text, encoding="utf-8")
    loaded = load(file, {}, START)
    # cron's rule for two restricted days is legal, and warned of.
    problems = [problem for problem in loaded.problems if "day-of-month and day-of-week" not in problem.message]
    assert problems == []
    assert loaded.configuration is not None
    return loaded.configuration


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("imported")


def only_job(text: str, place: Path, **options: Any) -> tuple[Mapping[str, Any], ScheduleSpec, str]:
    """Return the specification, the schedule and the description of the one job."""
    declared = configured(imported(text, **options).text, place).declared
    [job] = declared.jobs.values()
    [schedule] = declared.schedules.values()
    return job.spec, schedule, job.description


def messages(text: str, **options: Any) -> list[str]:
    return [f"{problem.line}: {problem.message}" for problem in imported(text, **options).problems]


@for_each("case", CORPUS)
def test_an_odd_line_keeps_its_meaning(case: Case, place: Path) -> None:
    spec, schedule, description = only_job(case.lines, place)

    assert (spec.get("command"), spec.get("argv"), spec.get("stdin")) == (case.command, case.argv, case.stdin)
    assert spec["env"] == {**CRON_ENV, **case.env}
    assert spec["working_dir"] == case.working_dir
    assert (schedule.expr, schedule.timezone) == (case.cron, case.timezone)
    assert (schedule.overlap, schedule.catchup) == (Overlap.ALLOW, Catchup.NONE)
    assert description == case.description


@for_each("case", BAD)
def test_a_line_that_cannot_be_read_is_reported_and_kept_as_a_comment(case: BadCase, place: Path) -> None:
    result = imported(f"# first\n{case.line}\n0 9 * * * x\n")

    assert [(problem.line, problem.message) for problem in result.problems] == [(2, case.message)]
    assert (result.jobs, result.rejected) == (1, 1)
    text = result.text.encode().decode()
    kept = ascii(case.line)[1:-1] if not case.line.isprintable() else case.line
    assert f"# crontab:2: {case.message}\n# {kept.rstrip()}" in text
    assert len(configured(text, place).declared.jobs) == 1


def test_every_problem_has_a_hint() -> None:
    text = "\n".join([*(case.line for case in BAD), *(case.lines for case in CORPUS)])

    assert [problem for problem in imported(text).problems if not problem.hint] == []


def test_the_whole_corpus_in_one_crontab_passes_the_check(place: Path) -> None:
    text = "\n\n".join(case.lines.replace("\ufeff", "") for case in CORPUS if "CRON_TZ" not in case.lines)

    result = imported(text)

    assert len(configured(result.text, place).declared.jobs) == result.jobs > 60


def test_an_assignment_holds_for_the_lines_below_it(place: Path) -> None:
    text = "0 1 * * * one\nA=1\n0 2 * * * two\nA=2\nB=3\n0 3 * * * three\n"

    jobs = configured(imported(text).text, place).declared.jobs

    added = {name: {key: value for key, value in job.spec["env"].items() if key in "AB"} for name, job in jobs.items()}
    assert added == {"one": {}, "two": {"A": "1"}, "three": {"A": "2", "B": "3"}}


def test_an_unknown_timezone_rejects_the_lines_below_it() -> None:
    assert messages("CRON_TZ=Mars/Olympus\n0 9 * * * x\nCRON_TZ=UTC\n0 9 * * * y")[1] == (
        "2: timezone 'Mars/Olympus' does not exist"
    )


def test_a_system_crontab_names_the_user_in_each_line(place: Path) -> None:
    spec, schedule, _ = only_job("@daily\twww-data  /usr/bin/php job.php 5\\%\n", place, owner=None)

    assert (spec["user"], spec["command"]) == ("www-data", "/usr/bin/php job.php 5%")
    assert (spec["working_dir"], spec["env"]["LOGNAME"]) == ("/var/www", "www-data")
    assert schedule.expr == "@daily"


@for_each("line", ["0 9 * * * root", "@daily root  "])
def test_a_line_of_a_system_crontab_without_a_user_and_a_command_is_rejected(line: str) -> None:
    assert messages(line, owner=None) == ["1: the line has no command after the user"]


def test_an_account_of_another_machine_is_reported_once(place: Path) -> None:
    text = "0 1 * * * deploy a\n0 2 * * * deploy b\n"

    assert messages(text, owner=None) == [
        "1: account 'deploy' does not exist on this machine: its home directory is not known"
    ]
    for job in configured(imported(text, owner=None).text, place).declared.jobs.values():
        assert "working_dir" not in job.spec
        assert "HOME" not in job.spec["env"]


def test_the_report_names_what_is_different() -> None:
    text = "MAILTO=ops\nTZ=UTC\nCRON_TZ=UTC\nLOGNAME=x\nRANDOM_DELAY=9\n@reboot a\n~ 1 * * * b\n"

    assert messages(text) == [
        "1: output is not mailed: Foliot keeps it",
        "2: TZ is passed to the commands and does not change when they start",
        "3: CRON_TZ becomes the timezone of the jobs below it, as in cronie",
        "4: cron does not let a crontab set LOGNAME: it is the name of the account",
        "5: RANDOM_DELAY is left out",
        "7: random values (~) become hashed values (H)",
    ]


# -- run-parts

DEBIAN = """\
17 *  * * *  root  cd / && run-parts --report /etc/cron.hourly
25 6  * * *  root  test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }
47 6  * * 7  root  test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.weekly )
01 *  * * *  root  run-parts /etc/cron.other
"""
SCRIPTS = {"/etc/cron.hourly": [], "/etc/cron.daily": ["apt", "logrotate"], "/etc/cron.weekly": ["man-db"]}


def test_a_run_parts_line_becomes_a_job_for_each_script(place: Path) -> None:
    declared = configured(imported(DEBIAN, owner=None, scripts=SCRIPTS).text, place).declared

    jobs = {
        name: (job.spec.get("argv") or job.spec.get("command"), job.spec["working_dir"])
        for name, job in declared.jobs.items()
    }
    assert jobs == {
        "cron-daily-apt": (["/etc/cron.daily/apt"], "/"),
        "cron-daily-logrotate": (["/etc/cron.daily/logrotate"], "/"),
        "cron-weekly-man-db": (["/etc/cron.weekly/man-db"], "/"),
        "run-parts": ("run-parts /etc/cron.other", "/root"),
    }
    keys = [job.options.concurrency_key for job in declared.jobs.values()]
    assert keys == ["cron.daily", "cron.daily", "cron.weekly", None]


def test_the_report_names_empty_directories_and_what_guards_the_others() -> None:
    assert messages(DEBIAN, owner=None, scripts=SCRIPTS) == [
        "1: /etc/cron.hourly has no scripts",
        "2: cron starts /etc/cron.daily only if /usr/sbin/anacron is missing",
        "3: cron starts /etc/cron.weekly only if /usr/sbin/anacron is missing",
    ]


@for_each("command", ["run-parts --regex '^a' /etc/cron.daily", "cd / && run-parts /etc/cron.daily && x"])
def test_a_run_parts_line_of_another_shape_stays_a_command(command: str, place: Path) -> None:
    spec, *_ = only_job(f"@daily root {command}", place, owner=None, scripts=SCRIPTS)

    assert spec["command"] == command


# -- ids


@for_each(
    ("command", "name"),
    [
        ("/usr/local/bin/backup.sh --full >> /var/log/x 2>&1", "backup"),
        ("cd /srv/app && php artisan schedule:run >> /dev/null", "artisan-schedule-run"),
        ("flock -n /tmp/sync.lock nice -n 10 /usr/bin/sync-mail", "sync-mail"),
        ("timeout 5m python3 -m shop.tasks --all", "shop-tasks"),
        ("A=1 B='x' /opt/tool", "tool"),
        ("[ -x /usr/lib/php/sessionclean ] && /usr/lib/php/sessionclean", "sessionclean"),
        ("test -x /usr/bin/certbot && certbot -q renew", "certbot"),
        ("certbot renew -q", "certbot-renew"),
        ("bash -c 'a; b'", "bash"),
        ("sleep 30; curl -s https://example.com", "curl"),
        ("cd /tmp", "cd-tmp"),
        ("???", "job"),
        ("/opt/" + "x" * 99, "x" * 40),
    ],
)
def test_an_id_is_made_from_the_command(command: str, name: str) -> None:
    assert name_of(command) == name


def ids(text: str) -> list[str]:
    return [line.partition('"')[2].rstrip('"') for line in imported(text).text.splitlines() if line.startswith("id = ")]


def test_ids_are_unique_and_do_not_change_when_lines_are_added() -> None:
    first = "0 1 * * * curl https://a\n0 2 * * * curl https://b\n0 2 * * * curl https://b\n"

    before = ids(first)
    after = ids(first + "0 3 * * * curl https://c\n")

    assert before[0] == "curl"
    assert len(set(after)) == 4
    assert after[:3] == before == ids(first)


# -- schedules

_BOUNDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]


@st.composite
def fields(draw: st.DrawFn) -> str:
    return " ".join(draw(_field(*bounds)) for bounds in _BOUNDS)


def _field(least: int, most: int) -> st.SearchStrategy[str]:
    number = st.integers(least, most)
    span = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    step = st.tuples(st.one_of(st.just("*"), span), st.integers(1, most - least)).map(
        lambda pair: f"{pair[0]}/{pair[1]}"
    )
    items = st.lists(st.one_of(number.map(str), span, step), min_size=1, max_size=3).map(",".join)
    return st.one_of(st.just("*"), st.just("*"), items)


@given(expression=fields(), zone=st.sampled_from(["UTC", BERLIN, "America/New_York", "Australia/Lord_Howe"]))
def test_the_imported_schedule_fires_when_the_line_says(expression: str, zone: str, place: Path) -> None:
    try:
        original = cron.compile(expression, zone)
    except cron.InvalidCron:
        return  # a day that no month has
    _, schedule, _ = only_job(f"CRON_TZ={zone}\n{expression} x\n", place)

    kept = cron.compile(schedule.expr, schedule.timezone, dst=schedule.dst, dom_dow=schedule.dom_dow)
    start, end = datetime(2024, 2, 1, tzinfo=UTC), datetime(2032, 1, 1, tzinfo=UTC)
    assert kept.between(start, end, 500) == original.between(start, end, 500)


@for_each(
    ("written", "meant"),
    [
        ("*/61 * * * *", "0 * * * *"),
        ("7-50/77 * * * *", "7 * * * *"),
        ("0 0 * */13 *", "0 0 * 1 *"),
        ("0 0 * * */9", "0 0 * * 0"),
    ],
)
def test_a_step_beyond_its_field_selects_the_first_value(written: str, meant: str, place: Path) -> None:
    _, schedule, _ = only_job(f"{written} x", place)

    start, end = datetime(2024, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    assert cron.compile(schedule.expr).between(start, end, 99) == cron.compile(meant).between(start, end, 99)
