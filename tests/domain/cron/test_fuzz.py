"""Any text is compiled or refused with InvalidCron."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot import cron
from foliot.domain.cron.compiled import Cron

ALPHABET = "0123456789*/-,?LWH#()@ \tJANFEBmonfri_+.:=TZCRONevery\x00\n\xa0é٣😀{}$%"
PIECES = [
    *("*", "*/5", "0", "7", "59", "60", "1-5", "5-1", "L", "L-3", "LW", "15W", "5L", "FRI#L", "5#2", "MON-FRI", "JAN"),
    *("?", "H", "H(0-9)", "H/7", "@every", "90s", "@daily", "TZ=UTC", "CRON_TZ=Europe/Berlin", "2030", "1,2,3", "*/0"),
    *("5--5", "1_0", "", ",", "-", "/", "#", "22-2/3", "*/61", "99999999999", "MONDAY", "9" * 40, "*L", "1970-9999/2"),
]


FIELDS = [
    ["*", "*/7", "0", "59", "5-1", "50-10/3", "1,2,30", "H", "H(0-9)/3", "?", "7/9"],
    ["*", "*/2", "0", "23", "22-2", "9-17/3", "1,2", "H(8-20)", "?"],
    ["*", "1", "31", "L", "L-3", "LW", "L-5W", "15W", "1,L", "28-3", "H", "?", "*/9", "3,*"],
    ["*", "2", "JAN", "nov-FEB", "*/5", "12,1", "4/3", "H"],
    ["*", "0", "7", "MON-FRI", "fri-mon", "5L", "L2", "SUN#L", "1#5", "MON,3#2", "sat", "?", "*/2", "0-6"],
]
YEARS = [
    *("*", "2030", "1970-9999/2", "2024,2028", "2000/4"),
    *("2000/5", "2001-2060/4", "2001-2062/4", "*/3,*/7", "*/3,*/9"),
]


def random_text(source: random.Random) -> str:
    """Return random characters, pieces in any order, or a valid expression with one or two wrong characters."""
    kind = source.random()
    if kind < 0.2:
        return "".join(source.choices(ALPHABET, k=source.randint(0, 40)))
    if kind < 0.4:
        return " ".join(source.choices(PIECES, k=source.randint(1, 8)))
    text = " ".join(words_in_place(source))
    for _ in range(source.choice([0, 0, 1, 2])):
        place = source.randrange(len(text))
        text = text[:place] + source.choice(ALPHABET) + text[place + source.randint(0, 2) :]
    return text


def words_in_place(source: random.Random) -> list[str]:
    words = [source.choice(field) for field in FIELDS]
    if source.random() < 0.4:
        words.insert(0, source.choice(FIELDS[0]))
        words += source.choices(YEARS, k=source.randint(0, 1))
    return words


def compiled_or_refused(text: str) -> Cron | cron.InvalidCron:
    try:
        return cron.compile(text, key="fuzz", anchor=datetime(2026, 1, 1, tzinfo=UTC))
    except cron.InvalidCron as error:
        return error


def check(answer: Cron | cron.InvalidCron, text: str) -> None:
    if isinstance(answer, Cron):
        fire = answer.next_epoch(1_767_225_600)
        assert fire is None or answer.previous_epoch(fire + 1) == fire
        assert answer.describe().isprintable()
    else:
        assert 0 <= answer.position <= len(text)
        assert answer.message.isprintable()
        assert answer.hint


@pytest.mark.proves("Z41")
@pytest.mark.timeout(60)
def test_ten_thousand_random_texts_are_compiled_or_refused() -> None:
    source = random.Random(20_260_101)
    answers = {text: compiled_or_refused(text) for text in (random_text(source) for _ in range(10_000))}

    for text, answer in answers.items():
        check(answer, text)
    accepted = sum(isinstance(answer, Cron) for answer in answers.values())
    assert 2_000 < accepted < len(answers) - 2_000


def test_expressions_with_the_same_description_fire_at_the_same_moments() -> None:
    source = random.Random(20_260_102)
    fires: dict[str, list[int]] = {}
    for _ in range(10_000):
        compiled = compiled_or_refused(" ".join(words_in_place(source)))
        if isinstance(compiled, Cron):
            found = compiled.epochs_between(1_767_225_600, 1_999_999_999, 20)
            assert fires.setdefault(compiled.describe(), found) == found, compiled
    assert len(fires) > 2_000


@pytest.mark.proves("Z41")
@given(st.text(max_size=600))
def test_any_text_is_compiled_or_refused(text: str) -> None:
    check(compiled_or_refused(text), text)


@pytest.mark.proves("Z41")
@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "fields",
    [
        " ".join(["*,*,*,*,*,*,*,*"] * 7),
        "0 0 0 29 2 ? " + ",".join(f"{year}-9999" for year in range(1970, 2018)),
        "0 0 0 29 2 ? " + ",".join(f"{year}/2" for year in range(1971, 2100, 2)),
        "0 0 0 31W 2-12 MON#5 " + ",".join(["*/7"] * 100),
        ",".join(map(str, range(60))) + " * * * * " + ",".join(["1-5"] * 70),
        "* * * ? 2 6#5 9999/1",
    ],
)
def test_the_most_expensive_expressions_compile_fast(fields: str) -> None:
    """Each expression is compiled twenty times as twenty different texts, so that no cache helps."""
    texts = [fields + " " * number for number in range(20)]

    for text in texts:
        check(compiled_or_refused(text), text)
    assert len(fields) <= 512
