"""The text of inputs_from: its parts, and what is refused when a definition is read."""

import pytest

from foliot.domain.fanout.inputs import (
    BUILT_IN,
    FileInputs,
    HttpInputs,
    JobInputs,
    OtherInputs,
    SqlInputs,
    check_dsn_name,
    parse_file,
    parse_inputs,
)
from foliot.domain.fanout.statement import check_query
from foliot.domain.ids import JobId
from foliot.errors import InvalidInput
from tests.cases import for_each

PASSWORD = "hunter2"


@for_each(
    ("text", "inputs"),
    [
        ("file:///etc/cronlord/targets.txt", FileInputs("/etc/cronlord/targets.txt")),
        ("file:///srv/why%3F%20100%25.txt", FileInputs("/srv/why? 100%.txt")),
        ("file:///srv/100%.txt", FileInputs("/srv/100%.txt")),
        (
            "sql://main?SELECT url FROM targets WHERE enabled = 1",
            SqlInputs("main", "SELECT url FROM targets WHERE enabled = 1"),
        ),
        ("sql://main?SELECT a FROM t WHERE b LIKE '%20?';", SqlInputs("main", "SELECT a FROM t WHERE b LIKE '%20?'")),
        ("job://subdomain-monitor?output_as_lines", JobInputs(JobId("subdomain-monitor"))),
        ("job://etl.extract?output_as_lines", JobInputs(JobId("etl.extract"))),
    ],
)
def test_each_scheme_has_its_parts(text: str, inputs: object) -> None:
    assert parse_inputs(text) == inputs


def test_a_list_on_the_web_is_a_url() -> None:
    inputs = parse_inputs("https://api.example.com/targets?page=1")

    assert isinstance(inputs, HttpInputs)
    assert str(inputs.url) == "https://api.example.com/targets?page=1"


def test_the_text_after_the_scheme_of_a_plug_in_is_left_to_the_plug_in() -> None:
    assert parse_inputs("s3://bucket/key", [*BUILT_IN, "s3"]) == OtherInputs("s3", "bucket/key")


@for_each(
    ("text", "message", "hint"),
    [
        ("fiel:///etc/x", 'the scheme "fiel" does not exist', 'Did you mean "file"?'),
        ("ftp://host/x", 'the scheme "ftp" does not exist', "Use file://"),
        ("gopher://host/x", 'the scheme "gopher" does not exist', "Use file://, http://, https://, job://, sql://."),
        ("/etc/targets.txt", "does not begin with a scheme", "file://"),
        ("", "does not begin with a scheme", "file://"),
        ("FILE:///x", "does not begin with a scheme", "file://"),
        ("file://targets.txt", "not followed by an absolute path", "three slashes"),
        ("file:////etc/x", "not followed by an absolute path", "three slashes"),
        ("file:///etc/x?format=json", "no options after a question mark", "%3F"),
        ("file:///etc/x\n", "control character", "line break"),
        ("file:///etc/%ff", "not UTF-8", "another name"),
        ("http://", "no valid host", "https://"),
        ("sql://main", "not followed by a name and a query", "SELECT"),
        ("sql://?SELECT 1", "not followed by a name and a query", "SELECT"),
        ("sql://main?", "the query is empty", "SELECT"),
        ("sql://main?DELETE FROM t", "DELETE is not a query", "only be read"),
        ("sql://main?COPY t TO PROGRAM 'id'", "COPY is not a query", "only be read"),
        ("sql://main?ATTACH 'x' AS y", "ATTACH is not a query", "only be read"),
        ("sql://main?SELECT 1; DROP TABLE t", "more than one statement", "one query"),
        ("job://other.example/job?output_as_lines", "without a host", "this database only"),
        ("job://monitor", "does not end with ?output_as_lines", "job://JOB"),
        ("job://monitor?output", "does not end with ?output_as_lines", "job://JOB"),
        ("job://a b?output_as_lines", "is not a valid name", "Use 1 to 200"),
        ("file:///x\0", "NUL", "characters"),
    ],
)
@pytest.mark.proves("R0-63", "R0-64")
def test_a_text_that_can_never_be_resolved_is_refused(text: str, message: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_inputs(text)

    assert message in refused.value.message
    assert hint in refused.value.hint
    assert refused.value.field == "inputs_from"


@for_each(
    "text",
    [
        f"sql://postgresql://anna:{PASSWORD}@db/shop?SELECT 1",
        f"sql://anna:{PASSWORD}@db/shop?SELECT 1",
        f"sql://{PASSWORD}@db?SELECT 1",
        f"postgresql://anna:{PASSWORD}@db/shop?SELECT 1",
    ],
)
@pytest.mark.proves("R0-63")
def test_a_dsn_in_the_text_of_a_job_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_inputs(text)

    assert PASSWORD not in str(refused.value)


def test_a_resolver_refuses_the_scheme_of_another() -> None:
    with pytest.raises(InvalidInput, match="does not begin with file://"):
        parse_file("sql://main?SELECT 1")


@for_each("name", ["", "-x", "a b", "a/b", "a:b@c", "x" * 65])
def test_a_name_of_a_dsn_has_plain_characters(name: str) -> None:
    with pytest.raises(InvalidInput):
        check_dsn_name(name)


@for_each(
    "query",
    [
        "select 1",
        "(SELECT 1) UNION (SELECT 2)",
        "-- all of them\nSELECT url FROM targets",
        "/* a; b */ WITH x AS (SELECT 1) SELECT * FROM x",
        "VALUES (1), (2)",
        "TABLE targets",
        "SELECT ';' || 'it''s; fine' FROM t",
        "SELECT E'it\\'s; fine'",
        'SELECT "a;b" FROM t',
        "SELECT $$a;b$$, $x$ ; $$ ; $x$",
        "SELECT tags[1] FROM t -- ; no statement",
    ],
)
def test_semicolons_in_strings_names_and_comments_are_no_statements(query: str) -> None:
    assert check_query(query) == query


def test_semicolons_at_the_end_are_removed() -> None:
    assert check_query(" SELECT 1 ;; -- the end") == "SELECT 1"


@for_each(
    "query",
    [
        "SELECT 1; SELECT 2",
        "SELECT 'a'; DELETE FROM t",
        "SELECT 1 -- x\n; DELETE FROM t",
        "SELECT $$a$$; DELETE FROM t",
        "DELETE FROM t",
        "/* SELECT */ UPDATE t SET a = 1",
        "PRAGMA writable_schema = 1",
        "; SELECT 1",
        "'SELECT'",
    ],
)
def test_anything_but_a_single_query_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput):
        check_query(query)
