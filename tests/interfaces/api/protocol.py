"""Generates the examples of docs/reference/worker-protocol.md by sending each message to a real server.

python -m tests.interfaces.api.protocol    writes them into the page
"""

import asyncio
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from foliot import Foliot
from tests.interfaces.api.serving import Client, serving

PAGE = Path(__file__).parents[3] / "docs/reference/worker-protocol.md"
BEGIN = "<!-- examples: python -m tests.interfaces.api.protocol -->\n"
END = "<!-- end of examples -->\n"
_RUN = "01JQZ8W3F07M4T5V6W8X9YABCE"
_WORKER = "01JQZ8W3F07M4T5V6W8X9YABCD"
_TIMES = re.compile(r'"(due_at|started_at)": \d+')
_TAG = re.compile(r"\b[0-9a-f]{32}\b")
_ID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")


class Conversation:
    """Sends messages, and writes them down with the same names and times at each run."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.parts: list[str] = []

    async def say(self, name: str, why: str, body: dict[str, Any], *, title: bool = True) -> Any:
        answer = await self._client.post(f"/api/workers/{name}", body)
        assert answer.status < 500, name
        head = f"### {name}\n\n" if title else ""
        status = f"HTTP/1.1 {answer.status}"
        if answer.json is not None and "error" in answer.json:
            answer.json["error"].pop("request_id")
        answered = status if answer.json is None else f"{status}\n\n{pretty(answer.json)}"
        self.parts.append(
            f"{head}{why}\n\n```http\nPOST /api/workers/{name}\n\n{pretty(body)}\n```\n\n```http\n{answered}\n```\n"
        )
        return answer.json

    def text(self, worker_id: str, run_id: str) -> str:
        text = "\n".join(self.parts).replace(worker_id, _WORKER).replace(run_id, _RUN)
        assert set(_ID.findall(text)) == {_WORKER, _RUN}
        text = _TIMES.sub(r'"\1": 1767225600000', text)
        tags = dict.fromkeys(_TAG.findall(text))
        for number, tag in enumerate(tags, 1):
            text = text.replace(tag, f"{number:x}" * 32)
        return text


def pretty(value: Any) -> str:
    """Return JSON on several lines, with short lists and objects on one."""
    if not isinstance(value, dict) or len(json.dumps(value)) < 100:
        return json.dumps(value)
    inner = ",\n".join(f"  {json.dumps(name)}: {_inner(one)}" for name, one in value.items())
    return f"{{\n{inner}\n}}"


def _inner(value: Any) -> str:
    if len(json.dumps(value)) < 100 or not value:
        return json.dumps(value)
    lines = json.dumps(value, indent=2).splitlines()
    return "\n".join([lines[0], *(f"  {line}" for line in lines[1:])])


async def converse(client: Client) -> str:
    talk = Conversation(client)
    await client.put("/api/jobs/report", {"command": "make report", "timeout": 600})
    registered = await talk.say(
        "register",
        "Register a worker. All fields have defaults. `worker` of the answer names it in all further messages.",
        {"name": "gpu-1", "queues": ["default"], "slots": 2, "version": "1.4.0", "lease": 60},
    )
    worker = {"worker": registered["worker"]}
    await talk.say("lease", "Lease up to `limit` runs. Without a ready run, the answer is 204.", {**worker, "limit": 1})
    run_id = (await client.post("/api/jobs/report/run", {"payload": {"day": 3}})).json["id"]
    leased = await talk.say(
        "lease",
        "With `wait`, the server answers when a run is ready, at the latest after so many seconds, 60 at most. Each "
        "run names its definition, which is sent along unless `known` lists it.",
        {**worker, "limit": 1, "wait": 30, "known": []},
        title=False,
    )
    held = {"run_id": run_id, "token": leased["runs"][0]["token"]}
    beat = (
        "Send it every `heartbeat_every` seconds. `held` lists all leases that the worker has; others are given back."
    )
    await talk.say("heartbeat", beat, {**worker, "held": [held], "lease": 60})
    await talk.say(
        "log",
        "Send output. `seq` counts from 0 within a lease. `data` is base64; `text` may be used instead.",
        {**worker, **held, "pieces": [{"seq": 0, "stream": "stdout", "text": "page 1\n"}, {"seq": 1, "data": "/wA="}]},
    )
    again = (
        "Output that was saved before, and output after a gap, is refused. The hint names the number to continue with."
    )
    await talk.say("log", again, {**worker, **held, "pieces": [{"seq": 3, "text": "page 3\n"}]}, title=False)
    await talk.say(
        "progress", "Show how far the run is.", {**worker, **held, "fraction": 0.4, "text": "page 40 of 100"}
    )
    results = "Read results of the fanout that the run belongs to, in pages. `null`: it belongs to none."
    await talk.say("results", results, {**worker, **held, "after": -1, "limit": 100})
    spawn = "Start a follow-up, or ask the chain of the run for something else: `decide`, `spend` or `status`."
    await talk.say("spawn", spawn, {**worker, **held, "request": {"type": "status"}})
    await client.post(f"/api/runs/{run_id}/cancel")
    wait = (
        "Wait until runs may be ready or a cancellation was requested. 204: nothing has happened within `wait` seconds."
    )
    await talk.say("wait", wait, {**worker, "wait": 30})
    cancelled = (
        "A worker that executes one run at a time sends its lease instead of `held`. It gets 410 if the run is to be "
        "cancelled, and 409 if it has lost the lease."
    )
    await talk.say("heartbeat", cancelled, {**worker, **held}, title=False)
    finish = (
        "Report how the attempt ended: `success`, `failed`, `timeout`, `cancelled`, or `interrupted` to give the run "
        "back. `output` is JSON as base64. The same report may be repeated; another one is refused."
    )
    await talk.say("finish", finish, {**worker, **held, "status": "cancelled"})
    await talk.say(
        "finish", "A second report that differs:", {**worker, **held, "status": "success", "exit_code": 0}, title=False
    )
    many = (
        "Any number of messages in one request. They take effect in this order: logs, progress, renew, finishes, "
        "claim. What the worker may not change is listed in `stale` and `refused_logs`, and all else is done."
    )
    await talk.say(
        "exchange",
        many,
        {
            **worker,
            "logs": [{**held, "pieces": [{"seq": 2, "text": "late\n"}]}],
            "renew": {"held": []},
            "finishes": [{**held, "status": "cancelled"}],
            "claim": {"limit": 2, "known": ["job:report@1"]},
        },
    )
    await talk.say("retire", "Remove a worker that stops. Leases that it still has are freed.", worker)
    await talk.say("heartbeat", "A worker that is not known, or expired, registers again.", worker, title=False)
    text = talk.text(registered["worker_id"], run_id)
    return text.replace("\n\n\n```", "\n\n```")


async def examples() -> str:
    with tempfile.TemporaryDirectory() as directory:
        app = Foliot(f"sqlite:///{directory}/foliot.db")
        async with app, serving(await app.open()) as client:
            return await converse(client)


def written(page: str, text: str) -> str:
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), asyncio.run(examples())))
