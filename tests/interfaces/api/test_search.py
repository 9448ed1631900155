"""Searches: what is searched for is text, and none is slow."""

from typing import Final
from urllib.parse import quote

import pytest

from tests.interfaces.api.serving import Client

_ITEMS: Final = ["a" * 4_000, "[" * 10_000, "*"]
_HOSTILE: Final = ["*a" * 99 + "b", "a*" * 100, "[" * 200, "[!a-" * 50, "*[ab]" * 39 + "c", "?" * 200]
"""Patterns that a simple matcher tries in countless ways."""
_EXPRESSION: Final = "(a+)+$"


@pytest.mark.proves("Z43")
async def test_a_pattern_for_items_is_short_and_matched_in_one_pass(working: Client) -> None:
    await working.put("/api/jobs/fan", {"kind": "fanout", "items": _ITEMS, "command": "true"})
    fanout = (await working.post("/api/jobs/fan/run")).json["id"]
    await working.ended(fanout)
    path = f"/api/runs/{fanout}/items?pattern="

    found = {pattern: await working.get(path + quote(pattern)) for pattern in _HOSTILE}
    refused = await working.get(f"{path}{'%5B' * 201}")

    assert {pattern: [one["index"] for one in answer.json["items"]] for pattern, answer in found.items()} == {
        pattern: [0] if pattern == "a*" * 100 else [] for pattern in _HOSTILE
    }
    assert (refused.status, refused.error["code"]) == (422, "invalid_field")
    for index, item in enumerate(_ITEMS):
        exact = await working.get(f"/api/runs/{fanout}/item?item={quote(item)}")
        assert exact.json["index"] == index


@pytest.mark.proves("Z43")
async def test_a_search_in_a_log_or_for_jobs_is_no_expression(working: Client) -> None:
    await working.put(
        "/api/jobs/plain", {"name": "100 % (a+)+$", "command": f"echo '{'a' * 3_000}!'; echo '{_EXPRESSION}'"}
    )
    await working.put("/api/jobs/other", {"name": "100 x", "command": "true"})
    run_id = (await working.post("/api/jobs/plain/run")).json["id"]
    await working.ended(run_id)

    lines = await working.get(f"/api/runs/{run_id}/log/search?text={quote(_EXPRESSION)}")
    jobs = await working.get(f"/api/job-rows?search={quote('% ' + _EXPRESSION)}")

    assert [line["text"] for line in lines.json["items"]] == [_EXPRESSION]
    assert [row["id"] for row in jobs.json["items"]] == ["plain"]
