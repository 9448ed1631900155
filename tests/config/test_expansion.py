"""${VAR} in values."""

import pytest

from foliot.config.environment import has_variables
from foliot.domain.ids import JobId
from tests.cases import for_each
from tests.config.conftest import Good, Loader

JOB = '[[jobs]]\nid = "a"\ncommand = "x"\n'


@for_each(
    ("text", "expanded"),
    [
        ("${WHO}", "me"),
        ("a ${WHO} b ${WHO}", "a me b me"),
        ("${NOBODY:-you}", "you"),
        ("${EMPTY:-you}", "you"),
        ("${EMPTY}", ""),
        ("${NOBODY:-}", ""),
        ("${WHO:-you}", "me"),
        ("$${WHO}", "${WHO}"),
        ("$WHO $$ $", "$WHO $$ $"),
    ],
)
def test_variables_are_replaced(good: Good, text: str, expanded: str) -> None:
    configuration = good(f"{JOB}description = '{text}'", WHO="me", EMPTY="")

    assert configuration.declared.jobs[JobId("a")].description == expanded


def test_variables_are_replaced_in_lists_and_tables(good: Good) -> None:
    job = good(JOB + 'tags = ["${T}"]\nenv = { A = "${T}" }\npayload = { deep = [{ a = "${T}" }] }', T="t")

    spec = job.declared.jobs[JobId("a")]

    assert spec.tags == ("t",)
    assert spec.spec["env"] == {"A": "t"}
    assert spec.payload_template == {"deep": [{"a": "t"}]}


def test_dollars_in_commands_and_payloads_are_kept(good: Good) -> None:
    text = '[[jobs]]\nid = "{id}"\n{key}\nstdin = "${{X}}"\n'
    declared = good(
        text.format(id="a", key='command = "echo ${X}"') + text.format(id="b", key='argv = ["${X}"]')
    ).declared

    assert declared.jobs[JobId("a")].spec == {"command": "echo ${X}", "stdin": "${X}"}
    assert declared.jobs[JobId("b")].spec == {"argv": ["${X}"], "stdin": "${X}"}


def test_a_variable_may_contain_a_number_or_a_boolean(good: Good) -> None:
    server = good('[server]\nconcurrency = "${N}"\nwatch = "${W}"\npoll = "${P}"', N="8", W="true", P="0.5").server

    assert (server.slots, server.watch, server.poll) == (8, True, 500)


def test_text_without_a_variable_is_not_converted_to_a_number(loaded: Loader) -> None:
    [error] = loaded('[server]\nconcurrency = "8"').errors

    assert error.message == "'8' is not a whole number"


def test_all_missing_variables_are_reported_with_their_lines(loaded: Loader) -> None:
    errors = loaded(JOB + 'env.A = "${NOPE}"\nenv.B = "${NADA}"\nname = "${TOKN}"', TOKEN="x").errors

    assert [(error.line, error.message) for error in errors] == [
        (4, "variable NOPE is not set"),
        (5, "variable NADA is not set"),
        (6, "variable TOKN is not set"),
    ]
    assert errors[2].hint == 'Did you mean "TOKEN"?'


def test_a_missing_variable_is_the_only_problem_of_its_value(loaded: Loader) -> None:
    [error] = loaded('[server]\nconcurrency = "${SLOTS}"').errors

    assert error.message == "variable SLOTS is not set"


@pytest.mark.parametrize("text", ["${", "${A", "${}", "${1A}", "${A-b}", "${A b}"])
def test_invalid_variable_syntax_is_refused(loaded: Loader, text: str) -> None:
    [error] = loaded(f"{JOB}name = '{text}'", A="x").errors

    assert (error.line, error.message) == (4, f"{text!a} is not a variable")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${HOOK}", True),
        ("a ${HOOK:-b} c", True),
        (["a", {"b": "${HOOK}"}], True),
        ("$${HOOK}", False),
        ("$HOOK", False),
        ([1, {"b": None}], False),
    ],
)
def test_variables_in_a_value_are_detected(value: object, expected: bool) -> None:
    assert has_variables(value) is expected
