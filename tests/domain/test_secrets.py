"""What of a definition nobody but the job sees."""

import pytest

from foliot.domain.difference import Difference, differences
from foliot.domain.job import JobSpec
from foliot.domain.secrets import public_value


def test_names_of_variables_and_headers_are_shown_and_their_values_are_not() -> None:
    assert public_value("env", {"TOKEN": "s3cret"}) == {"TOKEN": "***"}
    assert public_value("headers", {"Authorization": "Bearer s3cret"}) == {"Authorization": "***"}


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://ada:s3cret@shop.example/a?b=c", "https://***@shop.example/a?b=c"),
        ("https://s3cret@shop.example", "https://***@shop.example"),
        ("https://shop.example/@ada", "https://shop.example/@ada"),
        ("https://shop.example/?to=a@b", "https://shop.example/?to=a@b"),
    ],
)
def test_a_url_is_shown_without_its_credentials(url: str, public: str) -> None:
    assert public_value("url", url) == public


def test_other_values_are_shown_as_they_are() -> None:
    assert public_value("command", "echo a@b") == "echo a@b"


def test_a_difference_of_two_urls_tells_no_password() -> None:
    before, after = (JobSpec(kind="http", spec={"url": f"https://ada:{word}@shop.example"}) for word in ("old", "new"))

    assert differences(before, after) == (Difference("url", "https://***@shop.example", "https://***@shop.example"),)
