"""Orders to running workers by HTTP."""

from tests.interfaces.api.serving import Client


async def test_a_worker_is_paused_resumed_and_drained(on_each: Client) -> None:
    while not (workers := (await on_each.get("/api/workers")).json["items"]):
        pass
    worker = workers[0]["id"]

    answers = {}
    for order in ("pause", "resume", "drain"):
        counted = (await on_each.post(f"/api/workers/{worker}/{order}")).json["workers"]
        answers[order] = (counted, (await on_each.get("/api/workers")).json["items"][0]["order"])

    assert answers == {"pause": (1, "pause"), "resume": (1, ""), "drain": (1, "drain")}
    assert "worker" in {one["kind"] for one in (await on_each.get("/api/audit")).json["items"]}


async def test_an_order_to_nobody_is_refused(api: Client) -> None:
    for path, body in (("/api/workers/none/pause", {}), ("/api/workers/drain", {"version": "9"})):
        refused = await api.post(path, body)
        assert (refused.status, refused.error["code"]) == (404, "not_found"), path


async def test_only_administrators_order(guarded: Client) -> None:
    for path in ("/api/workers/x/pause", "/api/workers/x/resume", "/api/workers/x/drain"):
        assert (await guarded.post(path, authorization="Bearer editor")).status == 403
