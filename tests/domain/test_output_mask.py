"""Masking of secrets in what a run prints."""

import json
from base64 import b64encode, urlsafe_b64encode
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foliot.domain.run.output_mask import OutputMask, named_secrets, secrets_of

SECRET = 'tr0ub4dor&"3/ü?'
KEY = "-----BEGIN-----\nMIIEpAIBAAKCAQEA\nq3Rz8x\nab\n-----END-----"


def shown(mask: OutputMask, *writes: bytes) -> bytes:
    """Return what readers see of these writes to standard output."""
    parts = [mask.write("stdout", data) for data in writes]
    return b"".join([*parts, *(data for _, data in mask.end())])


@pytest.mark.proves("Z29")
@pytest.mark.parametrize(
    "form",
    [
        SECRET.encode(),
        b64encode(SECRET.encode()),
        urlsafe_b64encode(SECRET.encode()),
        b64encode(f"user:{SECRET}".encode()),
        b64encode(f"x{SECRET}y".encode()),
        quote(SECRET, safe="").encode(),
        json.dumps(SECRET)[1:-1].encode(),
        json.dumps(SECRET, ensure_ascii=False)[1:-1].encode(),
    ],
)
def test_every_usual_form_of_a_secret_is_masked(form: bytes) -> None:
    printed = shown(OutputMask([SECRET]), b"before " + form + b" after\n")

    assert form not in printed
    assert b"***" in printed
    assert printed.startswith(b"before ")
    assert printed.endswith(b" after\n")


@pytest.mark.proves("Z29")
@given(cuts=st.lists(st.integers(0, 60), max_size=12), stream=st.sampled_from(["stdout", "stderr"]))
def test_a_secret_is_masked_wherever_the_writes_are_cut(cuts: list[int], stream: str) -> None:
    text = f"a {SECRET} b {SECRET}{SECRET} c\n".encode()
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    mask = OutputMask([SECRET])

    printed = shown(mask, *(text[start:end] for start, end in pairwise(places)))

    assert printed == b"a *** b ****** c\n"


@given(st.lists(st.binary(max_size=8), max_size=20))
def test_output_without_a_secret_is_unchanged(writes: list[bytes]) -> None:
    assert shown(OutputMask(["secret", "s3cr3t-token"]), *writes) == b"".join(writes).replace(b"secret", b"***")


def test_only_an_end_that_may_begin_a_secret_is_held_back() -> None:
    mask = OutputMask(["abcdef"])

    assert mask.write("stdout", b"name: ") == b"name: "
    assert mask.write("stdout", b"xab") == b"x"
    assert mask.write("stderr", b"c\n") == b"c\n"
    assert mask.write("stdout", b"x\n") == b"abx\n"


@pytest.mark.proves("Z29")
def test_each_line_of_a_secret_is_masked_except_short_ones() -> None:
    assert shown(OutputMask([KEY]), b"MIIEpAIBAAKCAQEA|q3Rz8x|ab\n") == b"***|***|ab\n"


def test_a_secret_of_five_characters_is_not_masked() -> None:
    assert shown(OutputMask(["hello", "hello2"]), b"hello hello2\n") == b"hello ***\n"


def test_a_token_is_masked_as_it_is() -> None:
    mask = OutputMask([SECRET])
    mask.add("42.AQIDBAUGBw")

    assert shown(mask, b"42.AQIDBA", b"UGBw " + SECRET.encode()) == b"*** ***"
    assert mask.text("token 42.AQIDBAUGBw") == "token ***"


def test_names_and_variables_tell_what_is_secret() -> None:
    spec = {
        "env": {
            "API_TOKEN": "from-its-name",
            "PGPASS": "from-its-variable",
            "REGION": "europe-1",
            "DATABASE_URL": "postgres://shop:p%40ss-word@db/shop",
        },
        "headers": {"Authorization": "Bearer from-a-header", "Accept": "text/plain"},
    }
    written = {"env": {**spec["env"], "PGPASS": "${DB_PASSWORD}", "REGION": "${REGION}"}}

    assert list(named_secrets(spec, written)) == [
        ("API_TOKEN", "from-its-name"),
        ("PGPASS", "from-its-variable"),
        ("DATABASE_URL", "p%40ss-word"),
        ("DATABASE_URL", "p@ss-word"),
        ("Authorization", "from-a-header"),
    ]


@pytest.mark.parametrize("spec", [{}, {"env": None}, {"env": {"API_TOKEN": 7}}, {"env": {"TOKEN": ""}, "headers": []}])
def test_a_job_without_secret_texts_has_nothing_to_mask(spec: dict[str, object]) -> None:
    assert not any(secrets_of(spec))
