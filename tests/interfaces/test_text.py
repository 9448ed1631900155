"""Untrusted text cannot control the terminal."""

import pytest

from foliot.interfaces.cli.render.text import Cleaner, escaped


@pytest.mark.proves("Z16")
@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("nightly", "nightly"),
        ("Größe", "Größe"),
        ("two\nlines\r", r"two\nlines\r"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\u202eright to left", r"\u202eright to left"),
        ("\x9b2J", r"\x9b2J"),
    ],
)
def test_control_characters_in_a_name_are_escaped(text: str, safe: str) -> None:
    assert escaped(text) == safe


CASES = [
    (b"plain\n\ttext\n", "plain\n\ttext\n"),
    (b"\x1b[1;31mred\x1b[0m\n", "\x1b[1;31mred\x1b[0m\n"),
    (b"\x1b[38:5:9mred", "\x1b[38:5:9mred"),
    (b"a\x1b[2J\x1b[10;10Hb\x1b[?1049hc", "abc"),
    (b"\x1b]0;you are root\x07ok", "ok"),
    (b"\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
    (b"\x1bP1$rq\x1b\\x", "x"),
    (b"\x1bc\x1b(0x", "x"),
    (b"a\x07b\x08c\x00", r"a\x07b\x08c\x00"),
    (b"10%\r20%\r\nend", "10%\n20%\nend"),
    (b"caf\xc3\xa9 \xff", "caf\u00e9 \\xff"),
    (b"\xc2\x9b2J\xe2\x80\xae", r"\x9b2J\u202e"),
    (b"\x1b\x1b[31m", "\x1b[31m"),
    (b"\x1b]never ends", "never ends"),
    (b"\x1b[12", "12"),
    (b"end\x1b", "end"),
]


@pytest.mark.proves("Z15")
@pytest.mark.parametrize(("data", "text"), CASES)
def test_cleaned_output_keeps_colours_and_no_other_control_sequences(data: bytes, text: str) -> None:
    assert Cleaner().feed(data, final=True) == text


@pytest.mark.proves("Z15")
@pytest.mark.parametrize(("data", "text"), CASES)
def test_cleaned_output_does_not_depend_on_the_piece_boundaries(data: bytes, text: str) -> None:
    cleaner = Cleaner()

    said = "".join(cleaner.feed(data[at : at + 1]) for at in range(len(data)))

    assert said + cleaner.feed(b"", final=True) == text


def test_an_endless_control_sequence_does_not_hold_back_the_output() -> None:
    assert Cleaner().feed(b"\x1b]" + b"x" * 100_000).count("x") > 90_000


@pytest.mark.parametrize(("data", "has_colour"), [(b"\x1b[32mgreen", True), (b"\x1b[2Jplain", False)])
def test_the_cleaner_knows_whether_colours_must_be_reset(data: bytes, has_colour: bool) -> None:
    cleaner = Cleaner()

    cleaner.feed(data)

    assert cleaner.has_colour is has_colour
