"""The request that follows from a redirect."""

import pytest

from foliot.domain.outbound.request import Request, defaulted, redirected
from foliot.domain.outbound.url import read_url
from tests.cases import for_each

HERE = read_url("https://user:secret@example.org/a")
THERE = read_url("https://example.org/b")
ELSEWHERE = [
    read_url("https://other.example/b"),
    read_url("http://example.org/b"),
    read_url("https://example.org:8443/b"),
]


def a_post(**headers: str) -> Request:
    return Request("POST", HERE, {"Content-Type": "text/plain", **headers}, b"body")


@for_each(
    ("status", "method", "expected"),
    [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (308, "POST", "POST"),
        (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"), (303, "DELETE", "GET"),
        (301, "HEAD", "HEAD"), (303, "HEAD", "HEAD"), (303, "GET", "GET"), (307, "GET", "GET"),
    ],
)  # fmt: skip
def test_the_status_of_a_redirect_decides_about_the_method(status: int, method: str, expected: str) -> None:
    assert redirected(Request(method, HERE), status, THERE).method == expected


def test_a_redirect_that_becomes_a_get_has_no_body() -> None:
    following = redirected(a_post(Accept="x"), 303, THERE)

    assert (following.body, dict(following.headers)) == (None, {"Accept": "x"})


def test_a_redirect_that_stays_a_post_keeps_its_body() -> None:
    assert redirected(a_post(), 307, THERE).body == b"body"


def test_a_redirect_within_an_origin_keeps_headers_and_credentials() -> None:
    following = redirected(a_post(Authorization="x"), 307, THERE)

    assert following.headers["Authorization"] == "x"
    assert following.url.credentials == ("user", "secret")


@pytest.mark.proves("Z23")
@pytest.mark.parametrize("url", ELSEWHERE, ids=str)
def test_a_redirect_to_another_origin_gets_no_secrets(url: object) -> None:
    given = {"authorization": "x", "Cookie": "x", "X-Api-Key": "x", "Accept": "y", "Foliot-Run-Id": "r"}

    following = redirected(a_post(**given), 307, url)  # type: ignore[arg-type]

    assert dict(following.headers) == {"Content-Type": "text/plain", "Accept": "y", "Foliot-Run-Id": "r"}
    assert following.url.credentials is None


def test_a_redirect_back_to_the_first_origin_gets_no_secrets() -> None:
    away = redirected(a_post(Authorization="x"), 307, ELSEWHERE[0])

    back = redirected(away, 307, THERE)

    assert "Authorization" not in back.headers
    assert back.url.credentials is None


def test_credentials_in_a_redirect_are_not_used() -> None:
    following = redirected(Request("GET", THERE), 302, read_url("https://a:b@example.org/"))

    assert following.url.credentials is None


def test_given_headers_replace_defaults_regardless_of_case() -> None:
    assert defaulted({"user-AGENT": "mine"}, {"User-Agent": "ours", "Accept": "x"}) == {
        "user-AGENT": "mine",
        "Accept": "x",
    }
