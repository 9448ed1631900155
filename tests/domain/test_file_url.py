"""The URL of a SQLite database."""

import pytest

from foliot.domain.file_url import parse_file_url
from foliot.errors import InvalidInput
from tests.cases import for_each


@for_each(
    ("written", "path"),
    [
        ("foliot.db", "foliot.db"),
        ("/var/lib/foliot.db", "/var/lib/foliot.db"),
        ("h#1.db", "h#1.db"),
        ("a b.db", "a b.db"),
        ("a%20b.db", "a b.db"),
        ("why%3F.db", "why?.db"),
        ("100%.db", "100%.db"),
        ("100%25.db", "100%.db"),
        ("u@host:1;x=[y].db", "u@host:1;x=[y].db"),
        ("Größe.db", "Größe.db"),
        ("file:x.db", "file:x.db"),
        ("no\u00a0break.db", "no\u00a0break.db"),
    ],
)
def test_the_name_of_a_file_is_used_unchanged(written: str, path: str) -> None:
    assert parse_file_url(f"sqlite:///{written}") == (path, "")


def test_options_of_a_file_url_follow_a_question_mark() -> None:
    assert parse_file_url("sqlite:///x.db?synchronous=NORMAL") == ("x.db", "synchronous=NORMAL")


@for_each(
    ("url", "fact"),
    [
        ("sqlite:///", "names no file"),
        ("sqlite:///?synchronous=FULL", "names no file"),
        ("sqlite://x.db", "names no file"),
        ("sqlite://host/x.db", "names no file"),
        ("sqlite:x.db", "names no file"),
        ("sqlite:///:memory:", "no database in memory"),
        ("sqlite:////var/%3Amemory%3A", "no database in memory"),
        ("sqlite:///x.db\n", "control character"),
        ("sqlite:///a\tb.db", "control character"),
        ("sqlite:///a%0Ab.db", "control character"),
        ("sqlite:///a%00b.db", "control character"),
        ("sqlite:///a%FFb.db", "not UTF-8"),
        ("sqlite:///a\udc80b.db", "not UTF-8"),
    ],
)
def test_an_invalid_file_url_is_refused_with_a_hint(url: str, fact: str) -> None:
    with pytest.raises(InvalidInput, match=fact) as refused:
        parse_file_url(url)

    assert refused.value.hint.endswith(".")
