"""Who is told about trees while they go on."""

from collections.abc import Callable

from foliot.domain.tree.settlement import Progress

ProgressListener = Callable[[Progress], None]
"""Called with what this process has saved about a tree, after it was saved. Must not raise and not wait."""


def ignore_progress(progress: Progress) -> None:
    """The listener where there is none."""
