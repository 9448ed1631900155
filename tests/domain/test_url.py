"""URLs are normalized, and ambiguous ones are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.outbound.url import LONGEST_URL, Url, read_url, resolve
from foliot.errors import InvalidInput
from tests.cases import for_each


def written(text: str) -> str:
    return str(read_url(text))


@for_each(
    ("text", "expected"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTPS://Example.ORG:443/A?b=C#d", "https://example.org/A?b=C"),
        ("http://example.org:8080?x", "http://example.org:8080/?x"),
        ("http://example.org:/", "http://example.org/"),
        ("http://my_service/", "http://my_service/"),
        ("http://[2001:DB8::0:1]:80/", "http://[2001:db8::1]/"),
        ("http://example.org/straße?q=ü&a={b}", "http://example.org/stra%C3%9Fe?q=%C3%BC&a=%7Bb%7D"),
        ("http://example.org/100%/%41", "http://example.org/100%25/%41"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://user:secret@example.org/", "http://example.org/"),
    ],
)
def test_a_url_is_normalized(text: str, expected: str) -> None:
    assert written(text) == expected


@pytest.mark.proves("Z21")
@for_each(
    "host",
    [
        *("127.1", "0x7f.1", "0177.0.0.1", "2130706433", "127.0.0.1.", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1"),
        *("１２７.0.0.1", "①②⑦.0.0.1", "127.0.0.\u00ad1", "ok@127.0.0.1", "127.0.0.1:1@127.0.0.1", "0X7f.0.0.1"),
    ],
)
def test_an_address_is_recognized_in_every_notation(host: str) -> None:
    url = read_url(f"http://{host}/")

    assert (url.host, str(url.address)) == ("127.0.0.1", "127.0.0.1")


@for_each(
    ("text", "complaint"),
    [
        ("example.org", "not complete"),
        ("http:/example.org", "not complete"),
        ("//example.org/", "not complete"),
        ("file:///etc/passwd", 'scheme "file"'),
        ("gopher://example.org/", 'scheme "gopher"'),
        ("http://", "no valid host"),
        ("http:///path", "no valid host"),
        ("http://user@/", "no valid host"),
        ("http://ok\\@127.0.0.1/", "backslash"),
        ("http://example.org/a b", "a space"),
        ("http://example.org/\r\nHost: evil", "a space"),
        ("http://a@b@example.org/", "more than one @"),
        ("http://example.org:0/", "port 0"),
        ("http://example.org:65536/", "port 65536"),
        ("http://example.org:80a/", "no valid host"),
        ("http://1.2.3.4.5/", "neither a name nor an address"),
        ("http://[::1/", "no valid host"),
        ("http://[fe80::1%25eth0]/", "no valid host"),
        ("http://exa%6Dple.org/", "not a host name"),
        ("http://exam!ple.org/", "not a host name"),
        ("http://a..b/", "not a host name"),
        (f"http://{'a' * 64}.org/", "not a host name"),
        (f"http://{'a.' * 200}org/", "cannot be used"),
        ("http://straße.example/", "cannot be used"),
        ("http://x\u200d.example/", "cannot be used"),
        ("http://%ff@example.org/", "credentials"),
        ("http://example.org/\ud800", "not text"),
        ("http://example.org/" + "a" * LONGEST_URL, "characters"),
    ],
)
def test_an_ambiguous_or_invalid_url_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint) as refused:
        read_url(text)

    assert refused.value.field == "url"


@given(st.text(max_size=40))
def test_any_text_is_a_url_or_refused(text: str) -> None:
    try:
        url = read_url(f"http://{text}")
    except InvalidInput:
        return
    assert str(url).isascii()
    assert read_url(str(url)) == Url(url.scheme, url.host, url.port, url.target, url.address)


def test_credentials_are_decoded_and_never_shown() -> None:
    url = read_url("https://me%40home:p%3Ass@example.org/a?key=abc&flag&x=#frag")

    assert url.credentials == ("me@home", "p:ss")
    assert url.shown == "https://example.org/a?key=***&***&x=***"


@for_each(
    ("reference", "expected"),
    [
        ("https://other.example/x", "https://other.example/x"),
        ("//other.example/x", "http://other.example/x"),
        ("/x?y", "http://example.org:81/x?y"),
        ("x", "http://example.org:81/a/x"),
        ("../x", "http://example.org:81/x"),
        ("../../../x/./y/..", "http://example.org:81/x/"),
        ("?z", "http://example.org:81/a/b?z"),
        ("", "http://example.org:81/a/b?q"),
        ("#f", "http://example.org:81/a/b?q"),
        (" /with blank ", "http://example.org:81/with%20blank"),
        ("/\udcff", "http://example.org:81/%FF"),
        ("@evil.example/", "http://example.org:81/a/@evil.example/"),
    ],
)
def test_a_reference_is_resolved_as_in_a_browser(reference: str, expected: str) -> None:
    base = read_url("http://example.org:81/a/b?q")

    assert str(resolve(base, reference)) == expected


@pytest.mark.proves("Z23")
@pytest.mark.parametrize("reference", ["file:///etc/passwd", "gopher://x/", "javascript:alert(1)", "http:x", "\\\\x"])
def test_a_reference_that_is_not_http_is_refused(reference: str) -> None:
    with pytest.raises(InvalidInput):
        resolve(read_url("http://example.org/"), reference)
