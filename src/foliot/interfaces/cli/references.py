"""How the command line names runs."""

from typing import Final

NAMING: Final = "A run is named by its id, by six or more characters of its beginning or end, by @last, or by JOB@last."
