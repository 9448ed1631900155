"""What a step of a chain reports in its output."""

import json
from datetime import datetime
from typing import Any

from foliot.domain.chain.decision import Report, read_deadline, read_report
from foliot.domain.instant import from_datetime
from tests.cases import for_each


def read(document: Any) -> Report:
    return read_report(json.dumps(document).encode())


def agent(result: str, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 1_000, "output_tokens": 200, "cache_read_input_tokens": 7, "server_tool_use": {"x": 1}}
    return {"type": "result", "result": result, "total_cost_usd": 0.18, "usage": usage, "session_id": "s", **more}


def test_an_object_is_a_report() -> None:
    given = {"decision": "retry", "reason": "outbid", "tokens": 1_200, "usd": 0.02, "slot": "lot-42", "other": [1]}

    assert read(given) == Report(decision="retry", reason="outbid", tokens=1_200, usd=0.02, slot="lot-42")


@for_each("output", [None, b"", b"x", b"[]", b"7", b"{", b'{"tokens": "many"}', b'{"decision": null}', b"\xff"])
def test_anything_else_reports_nothing(output: bytes | None) -> None:
    assert read_report(output) == Report()


@for_each(
    ("more", "expected"),
    [
        ({"usd": "0.02"}, Report(decision="trigger", usd=0.02)),
        ({"usd": "cheap", "tokens": 7}, Report(decision="trigger", tokens=7)),
        ({"tokens": "nan", "usd": "inf"}, Report(decision="trigger")),
        ({"tokens": [1], "usd": True}, Report(decision="trigger")),
        ({"slot": 42, "reason": 7}, Report(decision="trigger", slot="42", reason="7")),
        ({"slot": ["a"]}, Report(decision="trigger", slot='["a"]')),
        ({"deadline": 1.5}, Report(decision="trigger", deadline="1.5")),
        ({"usage": 7, "result": 7}, Report(decision="trigger")),
    ],
)
def test_a_wrong_field_does_not_hide_the_decision(more: dict[str, Any], expected: Report) -> None:
    assert read({"decision": "trigger", **more}) == expected


@for_each(("decision", "text"), [(7, "7"), (["good"], '["good"]'), ({}, "{}"), (False, "false"), ("", "")])
def test_a_decision_that_is_no_text_is_not_dropped(decision: Any, text: str) -> None:
    assert read({"decision": decision}).decision == text


def test_wrong_usage_of_an_agent_does_not_hide_its_decision() -> None:
    said = agent('{"decision": "close"}', usage={"input_tokens": "many", "output_tokens": 5})

    assert read(said) == Report(decision="close", tokens=5, usd=0.18)


def test_what_an_agent_has_spent_is_read_from_its_result() -> None:
    assert read(agent("I have fixed it.")) == Report(tokens=1_200, usd=0.18)


@for_each(
    "text",
    [
        '{"decision": "close", "reason": "green"}',
        'I looked.\n{"decision": "close", "reason": "green"}\n',
        'I looked.\n```json\n{"decision": "close", "reason": "green"}\n```\n',
    ],
)
def test_the_last_line_of_an_agent_is_its_decision(text: str) -> None:
    assert read(agent(text)) == Report(decision="close", reason="green", tokens=1_200, usd=0.18)


def test_an_agent_cannot_make_its_spending_smaller() -> None:
    said = '{"decision": "done", "tokens": 0, "usd": 0, "total_cost_usd": 0}'

    assert read(agent(said)) == Report(decision="done", tokens=1_200, usd=0.18)


@for_each(
    ("document", "tokens", "usd"),
    [
        ({"result": "x", "total_cost_usd": 0.5}, 0, 0.5),
        ({"result": "x", "usage": {"input_tokens": 3}}, 3, 0.0),
        ({"result": "x", "usage": {"input_tokens": 3, "output_tokens": 4}, "total_cost_usd": None}, 7, 0.0),
        ({"result": "x", "tokens": 5, "usd": 1.5}, 5, 1.5),
        ({"total_cost_usd": 0.5}, 0, 0.0),
    ],
)
def test_either_part_of_the_spending_may_be_missing(document: dict[str, Any], tokens: int, usd: float) -> None:
    report = read(document)

    assert (report.decision, report.tokens, report.usd) == (None, tokens, usd)


@for_each("text", ["no decision", "", '{"decision": "close"} and more', "[]", "{", "\ud800"])
def test_an_agent_may_decide_nothing(text: str) -> None:
    assert read(agent(text)).decision is None


@for_each(
    ("value", "moment"),
    [
        (None, None),
        ("tomorrow", None),
        ("9999-99-99", None),
        (-(10**18), None),
        (0, "1970-01-01T00:00:00+00:00"),
        ("2026-07-01T12:00:00", "2026-07-01T12:00:00+00:00"),
        ("2026-07-01T12:00:00+02:00", "2026-07-01T10:00:00+00:00"),
    ],
)
def test_a_deadline_is_a_moment_or_none(value: int | str | None, moment: str | None) -> None:
    expected = None if moment is None else from_datetime(datetime.fromisoformat(moment))
    assert read_deadline(value) == expected
