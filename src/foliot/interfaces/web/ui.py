"""Answers requests for the web UI: the page at the paths of the UI, and its files."""

import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from starlette.responses import HTMLResponse, Response

from foliot.interfaces.web.files import ASSETS, File, read_files
from foliot.interfaces.web.page import ASSET_HEADERS, PLAIN_HEADERS, page_headers, web_page

PATHS: Final = (
    "/",
    "/jobs",
    "/jobs/$",
    "/jobs/$/edit",
    "/new/job",
    "/runs",
    "/runs/$",
    "/timeline",
    "/workflows",
    "/workflows/$",
    "/chains",
    "/chains/$",
    "/chain-classes/$",
    "/ledger",
    "/schedules/$",
    "/workers",
    "/import",
    "/audit",
    "/doctor",
    "/settings",
    "/login",
)
"""The paths of the UI, as in ui/src/routes.tsx; $ is a name. Any other path is an error, as before there was a UI."""
_PATHS: Final = re.compile("|".join(path.replace("$", "[^/]+") for path in PATHS))
_HASHED: Final = "/assets/"


class WebUi:
    def __init__(self, base_path: str, folder: Path = ASSETS) -> None:
        self._base_path = base_path
        found = read_files(folder)
        self._index, self._files = found.index, found.files

    def answer(self, path: str, accepted: str) -> Response | None:
        """Return the answer for a path below the base path, None if it is not one of the UI.

        `accepted`: the encodings that the client accepts.
        """
        if file := self._files.get(path):
            return _file_answer(file, accepted, ASSET_HEADERS if path.startswith(_HASHED) else PLAIN_HEADERS)
        if not _PATHS.fullmatch(path):
            return None
        nonce = secrets.token_urlsafe(18)
        return HTMLResponse(web_page(self._index, self._base_path, nonce), headers=page_headers(nonce))


def _file_answer(file: File, accepted: str, headers: Mapping[str, str]) -> Response:
    if file.compressed is None or not _accepts_gzip(accepted):
        return Response(file.content, media_type=file.media_type, headers=headers)
    return Response(file.compressed, media_type=file.media_type, headers={**headers, "Content-Encoding": "gzip"})


def _accepts_gzip(accepted: str) -> bool:
    qualities = dict(map(_quality, accepted.lower().replace(" ", "").split(",")))
    return qualities.get("gzip", qualities.get("*", 0.0)) > 0


def _quality(one: str) -> tuple[str, float]:
    """Return an encoding and how much the client wants it: `gzip;q=0` is a refusal."""
    name, _, quality = one.partition(";q=")
    try:
        return name, float(quality or 1)
    except ValueError:
        return name, 0.0
