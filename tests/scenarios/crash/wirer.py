"""Adds a dependency between two jobs, or removes it: `python -m tests.scenarios.crash.wirer add child parent`."""

import asyncio
import os
import sys

from foliot.domain.ids import JobId
from foliot.domain.workflow.spec import ON_SUCCESS
from foliot.wiring.services import open_services


async def main(verb: str, child: str, parent: str) -> None:
    definitions = (await open_services(os.environ["FOLIOT_STORAGE"])).storage.definitions
    if verb == "add":
        await definitions.add_dependency(JobId(child), JobId(parent), ON_SUCCESS)
    else:
        await definitions.remove_dependency(JobId(child), JobId(parent))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
