"""Progress that a job reports is checked, and its text is cleaned."""

import pytest

from foliot.domain.run.progress import MAX_TEXT, RunProgress, progress_line, read_progress
from foliot.errors import InvalidInput


@pytest.mark.parametrize(("given", "kept"), [(0, 0.0), (1, 1.0), (0.4, 0.4), (1 / 3, 0.3333), (-0.0, 0.0)])
def test_a_fraction_from_0_to_1_is_accepted(given: float, kept: float) -> None:
    assert read_progress(given) == RunProgress(kept, None)


@pytest.mark.parametrize(
    "fraction",
    [1.01, -0.1, 40, float("nan"), float("inf"), float("-inf"), 10**400, "0.4", None, True, [0.4], {"a": 1}],
)
def test_other_fractions_are_refused_with_a_hint(fraction: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_progress(fraction)

    assert refused.value.field == "fraction"
    assert "0.4 is 40 percent" in refused.value.hint
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("text", [7, b"bytes", ["list"], False])
def test_a_text_that_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_progress(0.5, text)

    assert refused.value.field == "text"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("page 12", "page 12"),
        ("  two\nlines\t and \x1b[31mred\x00 ", "two lines and [31mred"),
        ("half a pair: \ud800", "half a pair:"),
        ("", None),
        (" \n ", None),
        ("größer ☃", "größer ☃"),
        ("from postgresql://me:secret@db/x", "from postgresql://***@db/x"),
        ("with token=abc123", "with token=***"),
    ],
)
def test_a_text_becomes_one_printable_line_without_secrets(given: str, kept: str | None) -> None:
    assert read_progress(0.5, given).text == kept


def test_a_long_text_is_cut_and_not_refused() -> None:
    text = read_progress(0.5, "word " * 1_000_000).text

    assert text is not None
    assert (len(text), text[-1]) == (MAX_TEXT, "…")


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (RunProgress(0.4, "page 12"), "40%, page 12"),
        (RunProgress(0.9999), "99%"),
        (RunProgress(0.29), "29%"),
        (RunProgress(1.0), "100%"),
    ],
)
def test_progress_in_one_line_shows_100_percent_only_at_the_end(progress: RunProgress, line: str) -> None:
    assert progress_line(progress) == line
