"""Numbers that a call may give."""

import math
from collections.abc import Callable

import click


def seconds_within(least: float, most: float) -> Callable[[str], float]:
    """A type for options: a number of seconds, with fractions. What is no number, such as nan, is refused."""

    def seconds(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise click.BadParameter(f"{str(value)[:32]!a} is not {least:g} to {most:g} seconds")
        return number

    return seconds
