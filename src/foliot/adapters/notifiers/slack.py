"""Sends messages to an incoming webhook of Slack, with a line of plain text and with blocks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.adapters.notifiers.post import post
from foliot.adapters.outbound.lazy import LazyOutbound
from foliot.domain.notification.message import Message, cut
from foliot.ports.notifier import Answer

LONGEST_ERROR: Final = 500
_LONGEST_HEAD: Final = 150
_LONGEST_BLOCK: Final = 2_900
"""Slack accepts 3,000 characters. Escaping must not exceed that."""
_TAGS: Final[Mapping[str, str]] = {
    "success": "[ok]",
    "partial": "[ok]",
    "failed": "[fail]",
    "timeout": "[timeout]",
    "cancelled": "[cancelled]",
}
_OUTCOMES: Final[Mapping[str, str]] = {
    "repeated_failure": "failed {failures_in_a_row} times in a row",
    "recovery": "recovered",
}


class SlackNotifier:
    """Fills `ports.notifier.Notifier`."""

    def __init__(self, outbound: LazyOutbound) -> None:
        self._outbound = outbound

    async def deliver(self, message: Message, url: str) -> Answer:
        return await post(self._outbound, url, {}, msgspec.json.encode(slack_document(message.document)))


def slack_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Slack gets for a message of any type."""
    match document["type"]:
        case "run.ended":
            return _run(document)
        case "alert.raised":
            facts = [f"{name}: {_plain(value)}" for name, value in document["facts"].items()]
            return _message(f"[alert] {document['kind']}: {document['subject']}", [_code(facts)] if facts else [])
        case _:
            return _message(f"[{document['type']}] {document.get('text', '')}", [])


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    outcome = _OUTCOMES.get(run["occasion"], run["status"]).format(**run)
    head = f"{_TAGS.get(run['status'], '[' + run['status'] + ']')} {run['job_name']} {outcome}"
    facts = [f"*run* {_escaped(run['run_id'])}", f"*trigger* {_escaped(run['trigger'])}"]
    if run["exit_code"] is not None:
        facts.append(f"*exit code* {run['exit_code']}")
    blocks = [_section("   ".join(facts))]
    if run["error"]:
        blocks.append(_section(f"*error* {_escaped(cut(run['error'], LONGEST_ERROR))}"))
    if run["log"]:
        blocks.append(_code(run["log"]))
    if "url" in run:
        blocks.append(_section(f"<{run['url']}|Open the run>"))
    return _message(head, blocks)


def _message(head: str, blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    title = {"type": "header", "text": {"type": "plain_text", "text": cut(head, _LONGEST_HEAD)}}
    return {"text": _escaped(head), "blocks": [title, *blocks]}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _code(lines: Sequence[str]) -> dict[str, Any]:
    """Return lines as they are, the last ones if they are too long."""
    text = _escaped("\n".join(lines)).replace("```", "'''")
    return _section(f"```{text[-_LONGEST_BLOCK:]}```")


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
