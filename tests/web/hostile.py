"""A server with hostile text in every field that a person or a program can set."""

import json
from collections.abc import Mapping
from typing import Final
from urllib.error import HTTPError

from tests.scenarios.server import Place
from tests.web.world import Site

TEXT: Final = (
    "\"'><x-hostile onclick=alarm(1)></x-hostile><script>alarm(2)</script><img src=x onerror=alarm(3)>"
    '</script></textarea><svg/onload=alarm(4)><a href="javascript:alarm(5)">x</a>{{7*7}}${7*7}'
)
SHORT: Final = "<x-hostile/onclick=alarm(6)><img src=x onerror=alarm(7)>"
"""For fields with a limited length."""

PRINTED: Final = (
    TEXT,
    "\x1b[31mred \x1b[1mand bold\x1b[0m plain",
    "\x1b]8;;javascript:alarm(8)\x1b\\a link of a terminal\x1b]8;;\x1b\\ \x1b]0;a stolen title\x07",
    "\x1b[2J\x1b[Hcleared \x1b[5Amoved",
    "half\rwhole line",
    "see javascript:alarm(9) and https://example.com/<x-hostile>?q='\"onmouseover=alarm(10)",
    'data: {"line": "forged"}',
    "event: run.ended",
    "id: 999999",
    "\u202eright to left\u202c",
)
_QUOTED: Final = json.dumps(TEXT.replace("${", "$${"))
_SHORT: Final = json.dumps(SHORT)

DEFINITIONS: Final = f"""
[[jobs]]
id = "printer"
name = {_SHORT}
description = {_QUOTED}
owner = {_SHORT}
category = {_SHORT}
tags = [{_SHORT}]
cron = "0 3 * * *"
retries = 1
retry_delay = 0
env = {{ HOSTILE = {_QUOTED} }}
command = {json.dumps("cat lines.txt; cat lines.txt >&2; exit 3")}

[[jobs]]
id = "raiser"
kind = "python"
call = "hostile_tasks:fail"
description = {_QUOTED}

[[jobs]]
id = "request"
kind = "http"
url = "http://127.0.0.1:9/<x-hostile>?javascript:alarm(1)"
description = {_QUOTED}

[[jobs]]
id = "items"
kind = "fanout"
items = [{_QUOTED}, {_SHORT}, "plain"]
command = {json.dumps('echo "$FANOUT_ITEM"; exit 4')}
reducer = {{ command = "cat lines.txt" }}

[[jobs]]
id = "gate"
depends_on = ["printer"]
cron = "0 4 * * *"
command = "echo gate"

[[workflows]]
id = "flow"
description = {_QUOTED}
tags = [{_SHORT}]
params = {{ text = {_QUOTED} }}

[[workflows.steps]]
name = "first"
description = {_QUOTED}
command = "cat lines.txt; exit 5"

[[workflows.steps]]
name = "after"
after = {{ step = "first", when = "failure" }}
approve = {{ timeout = "3d", default = "reject" }}

[[chains]]
id = "class"
name = {_SHORT}
description = {_QUOTED}
every = "6h"
owner = {_SHORT}
tags = [{_SHORT}]

[chains.scout]
command = "cat lines.txt; exit 10"

[chains.action]
command = "cat lines.txt; exit 9"

[chains.verify]
command = "exit 30"
"""

_TASKS: Final = f"def fail():\n    raise ValueError({TEXT!r})\n"


def prepare(place: Place) -> None:
    place.directory.mkdir()
    place.file.write_text("[server]\nconcurrency = 4\n" + DEFINITIONS)
    (place.directory / "lines.txt").write_text("\n".join(PRINTED) + "\n")
    (place.directory / "hostile_tasks.py").write_text(_TASKS)


def fill(site: Site) -> list[str]:
    """Send hostile text wherever the API takes some, and return the addresses of what came of it."""
    runs = [site.run(job, payload={SHORT: TEXT}) for job in ("printer", "raiser", "request", "items", "class")]
    runs.append(site.post("/api/workflows/flow/start", params={"text": TEXT}, user_id=SHORT)["id"])
    runs.append(site.run("printer", delay=3_600))
    site.post("/api/definitions", toml=f'[[jobs]]\nid = "stored"\ndescription = {_QUOTED}\ncommand = {_QUOTED}\n')
    site.post("/api/schedules/pause-all", note=TEXT)
    site.post("/api/schedules/resume-all")
    for path, body in (
        ("/api/enrolments", {"name": SHORT}),
        ("/api/enrolments", {"name": "gpu", "labels": [SHORT]}),
        ("/api/tokens", {"name": SHORT, "role": "viewer"}),
        ("/api/users", {"name": SHORT, "password": "a long password", "role": "viewer"}),
        ("/api/chain-classes/class/reset", {"reason": TEXT}),
    ):
        offer(site, path, body)
    # The chain and the execution wait: one for its next step, the other for a person.
    for run in runs[:4]:
        site.ended(run)
    return runs


def offer(site: Site, path: str, body: Mapping[str, object]) -> None:
    """Send a request that may be refused: what is refused cannot be shown."""
    try:
        site.post(path, **body)
    except HTTPError as error:
        if error.code >= 500:
            raise
