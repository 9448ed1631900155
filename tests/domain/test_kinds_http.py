"""The fields of an HTTP job, their forms, and what is refused."""

from typing import Any

import pytest

from foliot.domain.job.job import JobSpec
from foliot.domain.job.kinds import read_spec
from foliot.domain.job.kinds.http import HttpSpec, read_command, read_statuses, show_statuses
from foliot.domain.run.payload import MAX_BYTES
from foliot.errors import InvalidJob
from tests.cases import for_each

URL = "https://example.org/"


def a_spec(**fields: Any) -> HttpSpec:
    return read_spec(HttpSpec, {"url": URL, **fields})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (URL, {"url": URL}),
        (f"  {URL}\n", {"url": URL}),
        (f"POST {URL}", {"method": "POST", "url": URL}),
        (f"delete   {URL}", {"method": "delete", "url": URL}),
        (f'{{"url": "{URL}"}}', {"url": URL}),
        (
            f'{{"method": "put", "url": "{URL}", "headers": {{"A": "b"}}, "body": "x", "expect_status": 201, '
            '"follow": false}',
            {
                "method": "put", "url": URL, "headers": {"A": "b"}, "body": "x",
                "expect_status": [[201, 201]], "follow": False,
            },
        ),
    ],
)  # fmt: skip
def test_a_command_is_a_url_a_method_and_a_url_or_an_object(text: str, expected: dict[str, Any]) -> None:
    assert read_command(text) == expected

    JobSpec(kind="http", spec=read_command(text)).check()


@for_each(
    ("text", "complaint"),
    [
        ("", "is not a request"),
        ("GET POST https://example.org", "is not a request"),
        ("G(T https://example.org", "is not a request"),
        ("{", "is not JSON"),
        ('{"url": ' + "[" * 300 + "]" * 300 + "}", "is nested too deeply"),
        ('{"url": ' + "[" * 100_000, "is nested too deeply"),
        ("{}", "has no url"),
        ('{"url": "x", "methd": "GET"}', r"(?s)field 'methd'.*Did you mean \"method\""),
        ('{"url": "https://x.example", "expect_status": "many"}', "is not a status code"),
    ],
)
def test_a_command_that_is_not_a_request_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InvalidJob, match=complaint):
        read_command(text)


@for_each(
    ("value", "expected"),
    [
        (204, [[204, 204]]),
        ("204", [[204, 204]]),
        ("200-299", [[200, 299]]),
        ("200 - 204", [[200, 204]]),
        ("4xx", [[400, 499]]),
        ([404, "2XX", 201], [[200, 299], [404, 404]]),
        ([200, 201, 202], [[200, 202]]),
        (["300-399", "200-299"], [[200, 399]]),
        (["200-299", "210-220"], [[200, 299]]),
    ],
)
def test_status_codes_become_disjoint_ascending_ranges(value: object, expected: list[list[int]]) -> None:
    assert read_statuses(value) == expected
    assert read_statuses([f"{first}-{last}" for first, last in expected]) == expected


@pytest.mark.parametrize("method", ["CONNECT", "connect", "TRACE", "Trace"])
def test_forbidden_methods_are_refused_with_an_alternative(method: str) -> None:
    with pytest.raises(InvalidJob, match=f"method {method.upper()} cannot be used by a job") as refused:
        a_spec(method=method)

    assert refused.value.hint


@for_each("value", [99, 600, "299-200", "2x", "", [], None, True, 200.0, [[200, 299]], {"a": 1}, "-1"])
def test_an_invalid_status_code_is_refused(value: object) -> None:
    with pytest.raises(InvalidJob, match="is not a status code") as refused:
        read_statuses(value)

    assert refused.value.field == "expect_status"


def test_expected_status_codes_count_as_success() -> None:
    spec = a_spec(expect_status=read_statuses(["2xx", 404]))

    assert [spec.expects(status) for status in (199, 200, 299, 300, 404, 405)] == [
        False,
        True,
        True,
        False,
        True,
        False,
    ]
    assert show_statuses(spec.expect_status) == "200-299, 404"


@for_each(
    ("fields", "field", "complaint"),
    [
        ({"url": "ftp://example.org"}, "url", "scheme"),
        ({"url": "http://"}, "url", "host"),
        ({"method": "GET /"}, "method", "is not a method name"),
        ({"method": ""}, "method", "is not a method name"),
        ({"headers": {"A b": "c"}}, "headers", "cannot be the name"),
        ({"headers": {"": "c"}}, "headers", "cannot be the name"),
        ({"headers": {"A\r\nB": "c"}}, "headers", "cannot be the name"),
        ({"headers": {"A": "b\r\nC: d"}}, "headers", "line break"),
        ({"headers": {"A": "b\0"}}, "headers", "control character"),
        ({"headers": {"A": "\ud800"}}, "headers", "control character"),
        ({"headers": {"A": "b" * 9_000}}, "headers", "longer"),
        ({"headers": {"Content-Length": "1"}}, "headers", "set by Foliot"),
        ({"headers": {"transfer-encoding": "chunked"}}, "headers", "set by Foliot"),
        ({"headers": {"Host": "other"}}, "headers", "set by Foliot"),
        ({"headers": {"foliot-run-id": "x"}}, "headers", "set by Foliot"),
        ({"headers": {"A": "b", "a": "c"}}, "headers", "given twice"),
        ({"headers": {f"A{number}": "b" for number in range(101)}}, "headers", "more than 100"),
        ({"url": "http://u:p@x.example", "headers": {"authorization": "x"}}, "headers", "credentials"),
        ({"body": "x", "json": {}}, "body", "mutually exclusive"),
        ({"body": "ü" * (MAX_BYTES // 2 + 1)}, "body", "more than"),
        ({"body": "\ud800"}, "body", "not text"),
        ({"json": ["x" * MAX_BYTES]}, "json", "more than"),
        ({"json": float("nan")}, "json", "not JSON"),
        ({"expect_status": [[200, 700]]}, "expect_status", "is not a status code"),
        ({"expect_status": []}, "spec", "length"),
        ({"max_redirects": 6}, "spec", "max_redirects"),
        ({"output_cap": -1}, "spec", "output_cap"),
        ({"methd": "GET"}, "spec", "methd"),
    ],
)
def test_a_request_that_cannot_be_sent_is_refused_when_it_is_defined(
    fields: dict[str, Any], field: str, complaint: str
) -> None:
    with pytest.raises(InvalidJob, match=complaint) as refused:
        JobSpec(kind="http", spec={"url": URL, **fields}).check()

    assert refused.value.field == field


def test_by_default_certificates_are_verified_and_redirects_followed() -> None:
    spec = a_spec()

    assert (spec.method, spec.verify, spec.follow, spec.max_redirects) == ("GET", True, True, 5)
    assert spec.expect_status == ((200, 299),)
