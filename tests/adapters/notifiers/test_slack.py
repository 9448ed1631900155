"""Messages to Slack: tags, blocks, cut and escaped texts."""

import json
from typing import Any

import pytest

from foliot.adapters.notifiers.slack import SlackNotifier, slack_document
from foliot.adapters.outbound.lazy import LazyOutbound
from foliot.domain.alert import Alert
from foliot.domain.instant import Instant
from foliot.domain.notification.message import Message, alert_document
from foliot.domain.outbound.policy import OPEN
from tests.adapters.outbound.servers import Server, reply


def a_run(**fields: Any) -> dict[str, Any]:
    return {
        "type": "run.ended",
        "occasion": "failure",
        "job_id": "report",
        "job_name": "Report",
        "run_id": "01R",
        "status": "failed",
        "trigger": "schedule",
        "exit_code": 3,
        "error": "exit code 3",
        "failures_in_a_row": 3,
        "log": ["a", "b"],
        **fields,
    }


def texts(document: dict[str, Any]) -> list[str]:
    return [block["text"]["text"] for block in document["blocks"]]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "[fail] Report failed"),
        ({"status": "timeout"}, "[timeout] Report timeout"),
        ({"status": "cancelled", "occasion": "end"}, "[cancelled] Report cancelled"),
        ({"status": "success", "occasion": "end"}, "[ok] Report success"),
        ({"status": "success", "occasion": "recovery"}, "[ok] Report recovered"),
        ({"occasion": "repeated_failure"}, "[fail] Report failed 3 times in a row"),
        ({"status": "skipped", "occasion": "end"}, "[skipped] Report skipped"),
    ],
)
def test_the_text_begins_with_a_tag_for_the_status(fields: dict[str, Any], text: str) -> None:
    document = slack_document(a_run(**fields))

    assert document["text"] == text
    assert texts(document)[0] == text


def test_a_message_has_the_run_its_error_its_log_and_a_link() -> None:
    document = slack_document(a_run(url="https://foliot.example/runs/01R"))

    assert texts(document)[1:] == [
        "*run* 01R   *trigger* schedule   *exit code* 3",
        "*error* exit code 3",
        "```a\nb```",
        "<https://foliot.example/runs/01R|Open the run>",
    ]


def test_an_error_is_cut_at_500_characters() -> None:
    [shown] = [text for text in texts(slack_document(a_run(error="x" * 501))) if text.startswith("*error*")]

    assert shown == f"*error* {'x' * 497}..."


def test_texts_of_jobs_cannot_become_links_mentions_or_code() -> None:
    document = slack_document(
        a_run(job_name="<!channel>", error="<https://evil|ok> & so", log=["```", "<@U1>" * 2_000])
    )

    assert document["text"] == "[fail] &lt;!channel&gt; failed"
    assert "<https://evil" not in str(document)
    assert all(len(text) <= 3_000 for text in texts(document))
    [code] = [text for text in texts(document) if text.startswith("```")]
    assert code.count("```") == 2
    assert "<@U1>" not in code


def test_an_alert_of_any_kind_is_shown_with_its_facts() -> None:
    alert = Alert("disk_full", "db", {"free": 7, "runs": ["a"], "why": "<x>"})

    document = slack_document(alert_document(alert, Instant(0)))

    assert document["text"] == "[alert] disk_full: db"
    assert texts(document)[1] == '```free: 7\nruns: ["a"]\nwhy: &lt;x&gt;```'


async def test_a_message_is_posted_as_json() -> None:
    async with Server({"/services/T/B/x": reply(200, b"ok")}) as server:
        notifier = SlackNotifier(LazyOutbound(OPEN))

        answer = await notifier.deliver(Message("msg_1", a_run()), server.url("/services/T/B/x"))

    assert answer.is_accepted
    assert json.loads(server.asked[0].body)["text"] == "[fail] Report failed"
