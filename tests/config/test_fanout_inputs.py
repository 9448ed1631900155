"""inputs_from is checked when a file is read."""

from pathlib import Path

import pytest

from tests.cases import for_each
from tests.config.conftest import Good, Loader

JOB = '[[jobs]]\nid = "scan"\nkind = "fanout"\ncommand = "true"\ninputs_from = "{}"\n'


@for_each(
    "source",
    [
        "file:///etc/cronlord/targets.txt",
        "https://api.example.com/targets",
        "sql://main?SELECT url FROM targets WHERE enabled = 1",
        "job://subdomain-monitor?output_as_lines",
    ],
)
def test_every_source_of_the_specification_is_accepted(good: Good, source: str) -> None:
    good(JOB.format(source))


@for_each(
    ("source", "message"),
    [
        ("fil:///x", 'the scheme "fil" does not exist'),
        ("targets.txt", "inputs_from does not begin with a scheme"),
        ("file://targets.txt", "file:// is not followed by an absolute path"),
        ("sql://main?DELETE FROM targets", "DELETE is not a query"),
        ("sql://main?SELECT 1; SELECT 2", "there is more than one statement"),
        ("sql://postgresql://a:b@db/x?SELECT 1", "sql:// must be followed by the name of a DSN"),
        ("job://host/job?output_as_lines", "job:// must be followed by the id of a job, without a host"),
    ],
)
@pytest.mark.proves("R0-63", "R0-64")
def test_what_can_never_be_resolved_is_an_error_with_its_line(loaded: Loader, source: str, message: str) -> None:
    [problem] = loaded(JOB.format(source)).errors

    assert message in problem.message
    assert problem.hint
    assert (problem.place.line, problem.key) == (5, "jobs[1].inputs_from")


@pytest.mark.proves("R0-27")
def test_a_fanout_without_a_source_of_items_is_refused_with_its_line(loaded: Loader) -> None:
    [problem] = loaded('[[jobs]]\nid = "scan"\nkind = "fanout"\ncommand = "true"\n').errors

    assert problem.message == "a job of kind fanout needs inputs_from or items"
    assert (problem.hint != "", problem.place.line) == (True, 1)


def test_the_scheme_of_an_installed_package_is_accepted(
    good: Good, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "packages" / "letters-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: letters\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[foliot.resolvers]\nletters = letters:Letters\n")
    monkeypatch.syspath_prepend(str(about.parent))

    good(JOB.format("letters://abc"))
