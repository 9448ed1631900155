"""The page of the web UI and its files."""

import re
from pathlib import Path

import pytest

from foliot import Foliot
from foliot.interfaces.web.ui import PATHS
from tests.interfaces.api.serving import Client, serving
from tests.interfaces.web.conftest import SCRIPT

ROUTES = Path(__file__).parents[3] / "ui/src/routes.tsx"


def test_the_server_knows_the_paths_of_the_router_of_the_ui() -> None:
    routed = re.findall(r'path: "([^"]+)"', ROUTES.read_text())

    assert {re.sub(r"\$\w+", "$", path) for path in routed} == set(PATHS)


@pytest.mark.parametrize("path", ["/", "/jobs", "/jobs/backup", "/jobs/static", "/jobs/backup/edit", "/runs/01M7R49"])
async def test_every_path_of_the_ui_is_the_page_without_credentials(ui: Client, path: str) -> None:
    answer = await ui.get(path)

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    assert b'src="/assets/index-1a2b.js"' in answer.content


async def test_the_page_has_a_strict_policy_with_a_new_nonce_in_each_answer(ui: Client) -> None:
    first, second = await ui.get("/"), await ui.get("/")

    nonces = []
    for answer in (first, second):
        policy = dict(one.strip().split(" ", 1) for one in answer.headers["Content-Security-Policy"].split(";"))
        assert policy["script-src"] == policy["worker-src"] == policy["connect-src"] == "'self'"
        assert policy["default-src"] == policy["object-src"] == policy["base-uri"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        [nonce] = re.findall(r"'nonce-([\w-]+)'", policy["style-src"])
        assert f'name="csp-nonce" content="{nonce}"' in answer.content.decode()
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "unsafe" not in str(policy)
        nonces.append(nonce)
    assert nonces[0] != nonces[1]


async def test_files_are_immutable_and_compressed_for_clients_that_want_it(ui: Client) -> None:
    compressed = await ui.get("/assets/index-1a2b.js", accept_encoding="br, gzip")
    plain = await ui.get("/assets/index-1a2b.js", accept_encoding="gzip;q=0, identity")

    assert compressed.headers["Content-Encoding"] == "gzip"
    assert int(compressed.headers["Content-Length"]) < len(SCRIPT)
    assert compressed.content == plain.content == SCRIPT
    assert "Content-Encoding" not in plain.headers
    assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert plain.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert plain.headers["Vary"] == "Accept-Encoding"
    assert plain.headers["X-Content-Type-Options"] == "nosniff"
    assert (await ui.get("/favicon.svg")).headers["Cache-Control"] == "no-cache"


async def test_a_worker_of_the_page_may_connect_to_the_server(ui: Client) -> None:
    answer = await ui.get("/assets/index-1a2b.js")

    assert "connect-src 'self'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/nothing",
        "/api",
        "/api/jobs.js",
        "/jobs/",
        "/JOBS",
        "//jobs",
        "/jobs/../jobs",
        "/nothing",
        "/metrics.css",
        "/readyz/",
        "/digest",
        "/index.html",
        "/assets",
        "/assets/",
        "/assets/index-1a2b.js.gz",
        "/assets/../digest",
        "/assets/%2e%2e/digest",
        "/assets/..%2fdigest",
        "/assets//index-1a2b.js",
        "/assets/index-1a2b.js%00",
        "/static/foliot.db",
    ],
)
async def test_every_other_path_is_an_error_in_json(ui: Client, path: str) -> None:
    answer = await ui.get(path)

    assert answer.status == 404
    assert answer.error["code"] == "not_found"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


async def test_routes_of_the_api_still_need_credentials(ui: Client) -> None:
    for path in ("/api/jobs", "/api/me", "/metrics"):
        assert (await ui.get(path)).status == 401


async def test_head_has_the_headers_of_get_and_no_content(ui: Client) -> None:
    for path in ("/", "/jobs/backup", "/assets/index-3c4d.css"):
        got, head = await ui.get(path), await ui.send("HEAD", path)

        assert head.status == 200
        assert head.content == b""
        assert head.headers["Content-Type"] == got.headers["Content-Type"]
        assert head.headers["Cache-Control"] == got.headers["Cache-Control"]


async def test_other_methods_are_refused(ui: Client) -> None:
    answer = await ui.post("/jobs")

    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_everything_is_below_the_base_path(below: Client) -> None:
    page = await below.get("/jobs/backup")
    text = page.content.decode()

    assert 'src="/foliot/assets/index-1a2b.js"' in text
    assert 'name="base-path" content="/foliot"' in text
    assert (await below.get("/assets/index-1a2b.js")).status == 200
    assert (await below.get("")).status == 200
    root = below.base.removesuffix("/foliot")
    for path in ("/", "/jobs", "/foliotjobs", "/assets/index-1a2b.js"):
        async with below.session.get(root + path) as outside:
            assert outside.status == 404


async def test_a_server_without_the_built_ui_says_how_to_build_it(tmp_path: Path) -> None:
    async with (
        Foliot(f"sqlite:///{tmp_path}/foliot.db") as app,
        serving(await app.open(), web_assets=tmp_path / "nothing") as client,
    ):
        answer = await client.get("/")

    assert answer.status == 200
    assert "hatch_build.py" in answer.content.decode()
    assert "/api/docs" in answer.content.decode()
