"""Which bytes are accepted as the output of a job."""

import pytest

from foliot.domain.run.output import read_output
from foliot.domain.run.payload import MAX_BYTES
from foliot.errors import InvalidRun
from tests.cases import for_each


def refusal_of(data: bytes, mode: str = "json") -> str:
    with pytest.raises(InvalidRun) as caught:
        read_output(mode, data)  # type: ignore[arg-type]
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (b"hello\n", b'"hello"'),
        (b"hello", b'"hello"'),
        (b"a\n\n", b'"a\\n"'),
        (b"", b'""'),
        (b" 1 ", b'" 1 "'),
        (b"caf\xc3\xa9", b'"caf\xc3\xa9"'),
        (b"a\xff\0", b'"a\\\\xff\\u0000"'),
    ],
)
def test_the_final_line_break_of_text_output_is_removed(data: bytes, output: bytes) -> None:
    assert read_output("text", data) == output


@for_each(
    ("data", "output"),
    [
        (b' {"a": [1, 2.5, "x", true, null]} \r\n', b'{"a":[1,2.5,"x",true,null]}'),
        (b"7", b"7"),
        (b'""', b'""'),
        (b"123456789012345678901234567890", b"123456789012345678901234567890"),
        (b'"\\u0000\\ud83d\\ude00"', '"\\u0000\U0001f600"'.encode()),
    ],
)
@for_each("mode", ["json", "file"])
def test_json_output_is_stored_as_its_value(mode: str, data: bytes, output: bytes) -> None:
    assert read_output(mode, data) == output  # type: ignore[arg-type]


def test_json_null_is_no_output() -> None:
    assert read_output("json", b"null\n") is None


@for_each(
    ("data", "fault"),
    [
        (b"", "expecting value at line 1, column 1"),
        (b"hello", "expecting value at line 1, column 1"),
        (b'{\n  "a": 1,\n  "b" 2}', "expecting ':' delimiter at line 3, column 7"),
        (b"[1, 2", "expecting ',' delimiter at line 1, column 6"),
        (b"1 2", "extra data at line 1, column 3"),
        (b'"a\tb"', "invalid control character at line 1, column 3"),
        (b"{}\xff", "byte 2 is not valid UTF-8"),
        (b"\0", "expecting value at line 1, column 1"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b"-Infinity", "-Infinity is not a JSON number"),
        (b"1e400", "inf is not a JSON number"),
        (b'[{"a": 1, "b": 2, "a": 1}]', "the key 'a' occurs twice"),
        (b'"\\ud800"', "surrogates not allowed"),
        ("{}".encode("utf-16"), "byte 0 is not valid UTF-8"),
        (b"1" * 5000, "limit"),
    ],
)
def test_output_that_is_not_json_is_refused_with_the_position(data: bytes, fault: str) -> None:
    message = refusal_of(data)

    assert message.startswith("the output is not JSON: ")
    assert fault in message


@pytest.mark.parametrize("data", [b"[" * 300 + b"]" * 300, b"[" * 100_000])
def test_output_that_is_nested_too_deeply_is_refused(data: bytes) -> None:
    assert refusal_of(data) == "the output is nested deeper than 200 levels"


def test_many_keys_are_checked_in_linear_time() -> None:
    """A quadratic comparison would take nearly a minute."""
    many = b"{" + b"".join(b'"k%d":1,' % number for number in range(80_000)) + b'"k79999":1}'

    assert refusal_of(many).endswith("the key 'k79999' occurs twice")


@pytest.mark.parametrize("mode", ["text", "json", "file"])
def test_an_output_of_one_mebibyte_is_accepted(mode: str) -> None:
    inner = b"x" * (MAX_BYTES - 2)
    given = inner if mode == "text" else b'"%s"' % inner

    assert read_output(mode, given) == b'"%s"' % inner  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["json", "file"])
def test_an_output_of_more_than_one_mebibyte_is_refused_even_if_it_is_blank(mode: str) -> None:
    assert refusal_of(b" " + b'"%s"' % (b"x" * (MAX_BYTES - 2)), mode) == (
        "the output has 1048577 bytes, more than 1048576"
    )


@pytest.mark.parametrize("data", [b"x" * (MAX_BYTES - 1), b"\xff" * (MAX_BYTES // 4), b"\1" * (MAX_BYTES // 4)])
def test_the_size_limit_applies_to_text_in_stored_form(data: bytes) -> None:
    assert refusal_of(data, "text").endswith("more than 1048576")


def test_the_size_limit_applies_to_json_in_stored_form() -> None:
    assert refusal_of(b"[" + b"1e15," * 200_000 + b"1]").endswith("more than 1048576")
