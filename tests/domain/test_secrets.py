"""Which values of a definition are masked."""

from typing import Any

import pytest

from foliot.domain.deploy.difference import Difference, differences
from foliot.domain.job.job import JobSpec
from foliot.domain.secrets import (
    is_hidden,
    public_document,
    public_error,
    public_spec,
    public_url,
    public_value,
    sounds_secret,
)
from tests.cases import for_each


@pytest.mark.proves("Z48")
def test_names_of_variables_and_headers_are_shown_and_their_values_are_not() -> None:
    assert public_value("env", {"TOKEN": "s3cret"}) == {"TOKEN": "***"}
    assert public_value("headers", {"Authorization": "Bearer s3cret"}) == {"Authorization": "***"}


@pytest.mark.proves("Z48")
@pytest.mark.parametrize(("given", "shown"), [("s3cret", "***"), ("", "***"), (None, None)])
def test_stdin_and_body_are_masked(given: str | None, shown: str | None) -> None:
    assert public_value("stdin", given) == shown
    assert public_value("body", given) == shown


@pytest.mark.proves("Z48")
@for_each(
    ("url", "public"),
    [
        ("https://ada:s3cret@shop.example/a", "https://***@shop.example/a"),
        ("HTTPS://s3cret@shop.example", "HTTPS://***@shop.example"),
        ("https://ada:p@ss@shop.example", "https://***@shop.example"),
        ("https://shop.example/@ada", "https://shop.example/@ada"),
        ("https://shop.example/?token=s3cret&s3cret", "https://shop.example/?token=***&***"),
        ("https://shop.example/?to=a@b", "https://shop.example/?to=***"),
        ("https://shop.example/?", "https://shop.example/?"),
        ("sqlite:///foliot.db", "sqlite:///foliot.db"),
        ("postgresql://me:p@ss@host/db?password=x", "postgresql://***@host/db?password=***"),
        ("postgresql://me:s3/cret@host/db", "postgresql://***@host/db"),
        ("postgrs://me:12?s3cret@host/db", "postgrs://***@host/db"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("me:s3cret@host/db", "***@host/db"),
    ],
)
def test_a_url_is_shown_without_its_credentials_and_the_values_of_its_query(url: str, public: str) -> None:
    assert public_url(url) == public
    assert public_value("url", url) == public


@pytest.mark.proves("Z48")
@for_each(
    ("source", "public"),
    [
        ("https://ada:s3cret@lists.example/a?key=s3cret", "https://***@lists.example/a?key=***"),
        ("sql://main?SELECT url FROM targets", "sql://main?SELECT url FROM targets"),
        ("job://monitor?output_as_lines", "job://monitor?output_as_lines"),
    ],
)
def test_the_source_of_a_fanout_is_shown_without_secrets(source: str, public: str) -> None:
    assert public_value("inputs_from", source) == public
    assert is_hidden("inputs_from", public) is (source != public)


@for_each(
    "name",
    ["password", "DB_PASSWORD", "apiToken", "api_key", "X-Api-Key", "accessKey", "client.secret", "credentials"],
)
def test_names_that_sound_like_a_secret(name: str) -> None:
    assert sounds_secret(name)


@for_each("name", ["key", "max_tokens", "concurrency_key", "author", "secretary", "keyboard", "", "42"])
def test_other_names_do_not_sound_like_secrets(name: str) -> None:
    assert not sounds_secret(name)


@pytest.mark.proves("Z48")
def test_values_with_secret_names_are_masked_at_any_depth() -> None:
    given = {"to": ["a@b", {"password": {"is": "s3cret"}, "token": None}], "call": "https://u:s3cret@x.example/a"}

    assert public_document(given) == {
        "to": ["a@b", {"password": "***", "token": None}],
        "call": "https://***@x.example/a",
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("echo a@b", "echo a@b"),
        ("curl https://u:s3cret@x.example/a", "curl https://***@x.example/a"),
        ("curl -H 'Authorization: Bearer s3cret' x", "curl -H 'Authorization: Bearer ***' x"),
        (["curl", "-H", "Authorization: basic s3cret"], ["curl", "-H", "Authorization: basic ***"]),
        ({"extra_args": ["-H", "Bearer s3cret"]}, {"extra_args": ["-H", "Bearer ***"]}),
    ],
)
def test_in_a_command_only_certain_passwords_are_masked(text: Any, shown: Any) -> None:
    assert public_value("command", text) == shown


@pytest.mark.parametrize(
    ("field", "value", "hidden"),
    [
        ("token", "***", True),
        ("command", "curl https://***@x.example/a", True),
        ("command", "curl -H 'Authorization: bearer ***' x", True),
        ("url", "https://x.example/?t=***", True),
        ("command", "echo '*** done ***'", False),
        ("retries", 3, False),
    ],
)
def test_a_mask_is_distinguished_from_other_asterisks(field: str, value: object, hidden: bool) -> None:
    assert is_hidden(field, value) == hidden


def test_a_value_with_variables_in_it_is_shown_as_it_was_written() -> None:
    spec = {"url": "https://hooks.example/s3cret", "method": "POST"}
    written = {"url": "https://hooks.example/${HOOK}", "payload_template": "${HOOK}"}

    shown = JobSpec(kind="http", spec=spec, payload_template="s3cret", written=written).as_written

    assert public_spec(shown.spec) == {"url": "https://hooks.example/${HOOK}", "method": "POST"}
    assert shown.payload_template == "${HOOK}"


@pytest.mark.parametrize("field", ["url", "body", "json"])
def test_a_difference_contains_no_secret(field: str) -> None:
    words = {"url": "https://ada:{}@shop.example", "body": "{}"}
    before, after = (
        JobSpec(kind="http", spec={field: {"token": word} if field == "json" else words[field].format(word)})
        for word in ("s3cret", "s3cret-too")
    )

    [difference] = differences(before, after)

    assert difference.field == field
    assert "s3cret" not in str(difference)
    assert difference == Difference(field, difference.before, difference.before)


@pytest.mark.proves("Z48")
@for_each(
    ("error", "public"),
    [
        ("cannot reach https://ada:s3cret@shop.example/", "cannot reach https://***@shop.example/"),
        ("401 for Authorization: Bearer s3cret", "401 for Authorization: Bearer ***"),
        ("GET /?token=s3cret&day=1 failed", "GET /?token=***&day=1 failed"),
        ("could not connect: host=db password=s3cret", "could not connect: host=db password=***"),
        ("DB_PASSWORD='s3 cret' is wrong", "DB_PASSWORD=*** is wrong"),
        ('    api_key = "s3\\"cret"\nKeyError', "    api_key = ***\nKeyError"),
        ("ValueError: {'apiToken': 's3cret', 'day': 1}", "ValueError: {'apiToken': ***, 'day': 1}"),
        ('{"password": "s3cret, s3cret', '{"password": ***'),
        ('said="token=s3cret"', 'said="token=***'),
    ],
)
def test_secrets_in_the_text_of_errors_are_masked(error: str, public: str) -> None:
    assert public_error(error) == public
    assert public_error(public) == public


@pytest.mark.parametrize(
    "error",
    [
        "exit code 3",
        "unexpected token: }",
        "KeyError: 'token'",
        "key=7 is taken",
        "    token = fetch(place)",
        "primary-key=7",
    ],
)
def test_text_without_secrets_is_shown_unchanged(error: str) -> None:
    assert public_error(error) == error


@pytest.mark.parametrize("part", ["a-", "token=", 'token="', "key", "'", "token \t", "Bearer "])
def test_masking_a_long_error_is_fast(part: str) -> None:
    """In quadratic time this test would not end."""
    assert len(public_error(part * 200_000)) <= 3 * len(part) * 200_000
