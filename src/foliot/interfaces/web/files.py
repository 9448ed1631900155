"""The built files of the web UI, read when the server starts. Only these can be requested."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ASSETS: Final = Path(__file__).parent / "assets"
"""Where the build of the package puts the files."""
INDEX: Final = "index.html"
_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""The kinds of files that are served."""


@dataclass(frozen=True)
class File:
    content: bytes
    compressed: bytes | None
    """The same with gzip, if that is smaller."""
    media_type: str


@dataclass(frozen=True)
class WebFiles:
    index: str | None
    """The page; None: the UI was not built."""
    files: Mapping[str, File]
    """All other files by their path, such as /assets/index-B1c2.js."""


def read_files(folder: Path = ASSETS) -> WebFiles:
    """Return the files in a folder; without the folder, there is no UI."""
    index = folder / INDEX
    if not index.is_file():
        return WebFiles(None, {})
    found = {
        f"/{path.relative_to(folder).as_posix()}": _file(path)
        for path in sorted(folder.rglob("*"))
        if path.suffix in _MEDIA_TYPES and path.is_file()
    }
    return WebFiles(index.read_text(), found)


def _file(path: Path) -> File:
    compressed = path.with_name(f"{path.name}.gz")
    return File(path.read_bytes(), compressed.read_bytes() if compressed.is_file() else None, _MEDIA_TYPES[path.suffix])
