"""[fanout] and [dsn]."""

from pathlib import Path

from foliot.config.settings import FanoutSettings
from foliot.domain.instant import MINUTE, Millis
from tests.config.conftest import Good, Loader

PASSWORD = "hunter2"


def test_without_the_sections_every_file_may_be_read_and_there_are_no_dsns(good: Good) -> None:
    configuration = good("")

    assert configuration.fanout == FanoutSettings(file_roots=None, inputs_timeout=Millis(5 * MINUTE))
    assert configuration.dsns == {}


def test_directories_are_relative_to_the_file(good: Good, tmp_path: Path) -> None:
    fanout = good('[fanout]\nfile_roots = ["lists", "/srv/lists"]\ninputs_timeout = "10m"').fanout

    assert fanout == FanoutSettings(
        file_roots=(tmp_path / "lists", Path("/srv/lists")), inputs_timeout=Millis(10 * MINUTE)
    )


def test_an_empty_list_allows_no_file(good: Good) -> None:
    assert good("[fanout]\nfile_roots = []").fanout.file_roots == ()


def test_the_environment_sets_the_options_of_fanouts(good: Good) -> None:
    fanout = good("", FOLIOT_FANOUT_FILE_ROOTS="/srv/a, /srv/b", FOLIOT_FANOUT_INPUTS_TIMEOUT="60").fanout

    assert fanout == FanoutSettings(file_roots=(Path("/srv/a"), Path("/srv/b")), inputs_timeout=MINUTE)


def test_dsns_are_read_with_variables(good: Good, tmp_path: Path) -> None:
    text = '[dsn]\nmain = "postgresql://anna:${PW}@db/shop"\nfiles = "sqlite:///shop.db"\nabs = "sqlite:////srv/x.db"'

    assert good(text, PW=PASSWORD).dsns == {
        "main": f"postgresql://anna:{PASSWORD}@db/shop",
        "files": f"sqlite:///{tmp_path}/shop.db",
        "abs": "sqlite:////srv/x.db",
    }


def test_problems_of_dsns_are_reported_without_their_texts(loaded: Loader) -> None:
    result = loaded(
        f'[dsn]\nwrong = "mysql://anna:{PASSWORD}@db/x"\n"a/b" = "sqlite:////x"\nnumber = 7\nopen = "sqlite:////x?a={PASSWORD}"\n'
    )

    found = [(problem.place.line, problem.key) for problem in result.errors]
    assert found == [(2, "dsn.wrong"), (3, "dsn.'a/b'"), (4, "dsn.number"), (5, "dsn.open")]
    assert PASSWORD not in repr(result.problems)


def test_dsn_must_be_a_table(loaded: Loader) -> None:
    [problem] = loaded("dsn = 7\n").errors

    assert problem.message == "dsn must be a table"


def test_dsns_belong_into_the_main_file(loaded: Loader, tmp_path: Path) -> None:
    (tmp_path / "more.toml").write_text('[dsn]\nmain = "sqlite:////x"\n')

    [problem] = loaded('include = ["more.toml"]\n').errors

    assert problem.message == "[dsn] belongs into the main file"
