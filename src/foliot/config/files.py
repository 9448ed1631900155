"""Finds and reads the files of a configuration: the main one, and what it includes.

Only regular files are opened, so that a pipe or a device cannot make reading wait or do something.
"""

import errno
import glob
import os
import re
import stat
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from foliot.config.document import Document, Node, Problems
from foliot.config.reading import Reading
from foliot.config.toml import parse_toml
from foliot.domain.instant import Instant
from foliot.domain.vocabulary.places import INCLUDE
from foliot.errors import InvalidInput, Place

MAX_BYTES: Final = 16 << 20
MAX_FILES: Final = 10_000
MAX_DEPTH: Final = 50
_HEADER: Final = re.compile(r"""\s*\[\[?\s*[\w"'-]+(\s*\.\s*[\w"'-]+)*\s*\]\]?\s*(#.*)?$""")
"""A header of a table. A line of a shell script such as `[ -f x ]` is none."""
_DECLARATION: Final = re.compile(r"""\s*\[\[?\s*["']?(jobs|workflows|chains)\b""")
"""The header of a job or workflow, also one that is not closed."""
_TRANSIENT: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors of this process or this machine, not of a file."""
_ANY_DEPTH: Final = "**"
_UNREADABLE: Final = "Give this user the right to read it, or name another file."


class Files(NamedTuple):
    """The documents of a configuration, and where further ones might appear."""

    documents: tuple[Document, ...]
    paths: tuple[Path, ...]
    blank: tuple[Path, ...]
    directories: tuple[Path, ...]
    """As patterns: the directories that an include searches, whether they exist or not."""


def read_files(path: Path, reading: Reading) -> Files:
    """Read a file and what it includes, each file once. What cannot be read is a problem."""
    search = _Search(reading)
    search.read(path, Place(str(path)))
    blank, directories = tuple(search.blank), tuple(sorted(search.directories))
    return Files(tuple(search.documents), tuple(search.paths), blank, directories)


def find_files(path: Path, environ: Mapping[str, str]) -> Files:
    """Find a file and what it includes; their problems are ignored."""
    try:
        return read_files(path, Reading(environ, Problems(), Instant(0)))
    except InvalidInput:
        return Files((), (path,), (), (_literal(path.absolute().parent),))


class _Search:
    """One pass over a file and its includes, in the order in which they are named."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._seen: set[Path] = set()
        self.documents: list[Document] = []
        self.paths: list[Path] = []
        self.blank: list[Path] = []
        self.directories: set[Path] = set()

    def read(self, path: Path, asked_from: Place, depth: int = 0) -> None:
        """Read a file unless it has been read before: files may include each other."""
        real = Path(os.path.realpath(path))  # unlike Path.resolve it accepts a cycle of links
        if real in self._seen:
            return
        self._seen.add(real)
        if len(self._seen) > MAX_FILES or depth > MAX_DEPTH:
            raise InvalidInput("too many files include each other", hint="Use fewer, larger files.")
        self.paths.append(path)
        self.directories.add(_literal(path.absolute().parent))
        try:
            text = read_text(path)
        except InvalidInput as error:
            self._reading.refuse(asked_from, error)
            return
        if not text.strip():
            self.blank.append(path)
        document = parse(text, path, self._reading.problems)
        if document is not None:
            self.documents.append(document)
            self._follow(document, depth)

    def _follow(self, document: Document, depth: int) -> None:
        if "include" not in document.tree:
            return
        table = Node({"include": document.tree["include"]}, document)
        for number, pattern in enumerate(self._reading.table(table, INCLUDE).value("include", ())):
            self._include(document, pattern, document.place(("include", number)), depth + 1)

    def _include(self, document: Document, pattern: str, place: Place, depth: int) -> None:
        self.directories.add((_literal(document.directory) / pattern).parent)
        try:
            found = matches(pattern, document.directory)
        except OSError as error:
            self._report_unlistable(error, place)
            return
        if not found:
            self._nothing_found(pattern, place)
        for match in found:
            self.read(Path(document.name).parent / match, place, depth)

    def _report_unlistable(self, error: OSError, place: Place) -> None:
        # Not a warning: the jobs that are defined there would be taken for deleted.
        if error.errno in _TRANSIENT:
            raise error
        hint = "Give this user the right to list it, or leave it out of include."
        message = f"directory {str(error.filename)[-128:]!a} could not be read: {error.strerror}"
        self._reading.problems.error(place, message, hint)

    def _nothing_found(self, pattern: str, place: Place) -> None:
        if glob.has_magic(pattern):
            hint = "Check the pattern, or leave it out of include."
            self._reading.problems.warning(place, f"{pattern[:128]!a} matches no file", hint)
        else:
            self._reading.problems.error(
                place, f"file {pattern[:128]!a} does not exist", "Write it, or leave it out of include."
            )


def _literal(directory: Path) -> Path:
    """Return a pattern that matches only this directory."""
    return Path(glob.escape(str(directory)))


def read_text(path: Path) -> str:
    """Return the text of a regular file of bounded size. InvalidInput: it cannot be read. OSError: this process has no
    descriptor or memory left."""
    shown = ascii(str(path)[-128:])
    try:
        content = _read_bytes(path)
    except FileNotFoundError:
        raise InvalidInput(f"file {shown} does not exist", hint="Write one with: foliot init") from None
    except OSError as error:
        if error.errno in _TRANSIENT:
            raise
        raise InvalidInput(f"file {shown} could not be read: {error.strerror}", hint=_UNREADABLE) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"file {shown} is not UTF-8 in line {line}", hint="Save it as UTF-8.") from None


def _read_bytes(path: Path) -> bytes:
    # Checked before it is opened, because opening a device may have an effect, and after, because the name may refer to
    # another file by then.
    _check_regular(path, path.stat())
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        _check_regular(path, os.fstat(file.fileno()))
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InvalidInput(
            f"file {str(path)[-128:]!a} has more than {MAX_BYTES} bytes", hint="Split it and include the parts."
        )
    return content


def _check_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(
            f"{str(path)[-128:]!a} is not a regular file", hint="Name a file, not a directory or a pipe."
        )


def settings_text(text: str) -> str:
    """Return the text of a file without the tables of its jobs and workflows, where its syntax errors may be."""
    kept, is_kept = [], True
    for line in text.splitlines(keepends=True):
        if _DECLARATION.match(line):
            is_kept = False
        elif _HEADER.match(line):
            is_kept = True
        kept.append(line if is_kept else "\n")
    return "".join(kept)


def parse(text: str, path: Path, problems: Problems) -> Document | None:
    """Return the document of a file's text; None if it is not TOML, which is reported."""
    tree = parse_toml(text, str(path), problems)
    return None if tree is None else Document(str(path), path.absolute().parent, tree, text)


def sections(documents: tuple[Document, ...], name: str) -> Iterator[Node]:
    """Yield the tables of that name, of all documents."""
    for document in documents:
        if name in document.tree:
            yield Node(document.tree, document).child(name)


# -- patterns, as in `glob`, except that a directory that cannot be listed is an error
#
#    jobs.d/**/*.toml --> jobs.d, and every directory below it --> names that match *.toml


def matches(pattern: str, root: Path) -> list[str]:
    """Return the paths that match, relative to the root, sorted. Names that begin with a dot are skipped: editors leave
    such files. OSError names a directory that could not be listed."""
    parts = Path(pattern).parts
    return sorted(set(_follow(root, "", (*parts, "*") if parts[-1:] == (_ANY_DEPTH,) else parts)))


def _follow(root: Path, base: str, parts: tuple[str, ...]) -> Iterator[str]:
    if not parts:
        if os.path.lexists(root / base):
            yield base
        return
    part, rest = parts[0], parts[1:]
    if part == _ANY_DEPTH:
        for place in _descend(root, base, frozenset()):
            yield from _follow(root, place, rest)
    elif glob.has_magic(part):
        for name in _names(root / base):
            if fnmatchcase(name, part) and (part.startswith(".") or not name.startswith(".")):
                yield from _follow(root, os.path.join(base, name), rest)  # noqa: PTH118 - Path takes "" for "."
    else:
        yield from _follow(root, os.path.join(base, part), rest)  # noqa: PTH118 - the same


def _descend(root: Path, base: str, above: frozenset[str]) -> Iterator[str]:
    """Yield a directory and all below it. A link to a directory above is not followed."""
    real = os.path.realpath(root / base)
    if real in above:
        return
    yield base
    for name in _names(root / base):
        below = os.path.join(base, name)  # noqa: PTH118 - the same
        if not name.startswith(".") and (root / below).is_dir():
            yield from _descend(root, below, above | {real})


def _names(place: Path) -> list[str]:
    try:
        return os.listdir(place)  # noqa: PTH208 - only names are needed
    except (FileNotFoundError, NotADirectoryError):
        return []
