"""Headers of answers: no name can add one, end one or break one."""

from typing import Final
from urllib.parse import quote

import pytest

from foliot.interfaces.api.resources.all import ROUTES
from tests.interfaces.api.serving import Client

_INJECTED: Final = 'a"\r\nX-Injected: yes\r\n\r\n<p>'
_NAMES: Final = (_INJECTED, "\N{PARTY POPPER} Ümläut", "..;x", '"; filename="evil.exe')


@pytest.mark.proves("Z50")
async def test_a_name_in_a_request_is_in_no_header(guarded: Client) -> None:
    for route in (route for route in ROUTES if route.parameters and not route.streams):
        for name in _NAMES:
            path = route.path.format(**dict.fromkeys(route.parameters, quote(name, safe="")))
            answer = await guarded.send(route.method, f"{path}?x={quote(name)}", authorization="Bearer admin")
            shown = str(dict(answer.headers))
            assert 400 <= answer.status < 500, (route.name, name, answer.status)
            assert "Injected" not in shown
            assert "evil" not in shown


@pytest.mark.proves("Z50")
async def test_downloads_are_named_by_the_run_whatever_its_job_is_called(working: Client) -> None:
    job = {"name": f"{_NAMES[1]} {_INJECTED}", "command": "echo done", "tags": [_NAMES[3]]}
    created = await working.put("/api/jobs/odd", job)
    run_id = (await working.post("/api/jobs/odd/run", {"dedupe_key": _NAMES[3]})).json["id"]
    await working.ended(run_id)

    log, output = await working.get(f"/api/runs/{run_id}/log"), await working.get(f"/api/runs/{run_id}/output")

    assert created.status == 201
    assert log.headers["Content-Disposition"] == f'attachment; filename="{run_id}.log"'
    assert output.headers["Content-Disposition"] == f'attachment; filename="{run_id}.out"'
    for answer in (log, output):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "X-Injected" not in answer.headers
