"""Colours of terminals, as commands print them."""


def red(text: object) -> str:
    return f"\x1b[31m{text}\x1b[0m"


def green(text: object) -> str:
    return f"\x1b[32m{text}\x1b[0m"


def yellow(text: object) -> str:
    return f"\x1b[33m{text}\x1b[0m"


def cyan(text: object) -> str:
    return f"\x1b[36m{text}\x1b[0m"


def bold(text: object) -> str:
    return f"\x1b[1m{text}\x1b[0m"


def dim(text: object) -> str:
    return f"\x1b[2m{text}\x1b[0m"
