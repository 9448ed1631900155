"""How the command line names runs."""

from typing import Final

from foliot.domain.run import Run
from foliot.errors import FoliotError
from foliot.service.references import nothing_named
from foliot.service.services import Services

NAMING: Final = "A run is named by its id, by six or more characters of its beginning or end, by @last, or by JOB@last."


async def find_run(services: Services, text: str) -> Run:
    """Return the run that `text` names."""
    return await services.runs.find(text)


async def nothing(services: Services, name: str, kinds: str) -> FoliotError:
    """Return the error for a name that no job and no schedule has."""
    return await nothing_named(services.storage, name, kinds)
