"""Enqueues runs until it is killed, and prints the id of each acknowledged one."""

import asyncio
import os

from foliot.service.commands.run_request import RunRequest
from foliot.wiring.services import open_services


async def main() -> None:
    services = await open_services(os.environ["FOLIOT_STORAGE"])
    while True:
        for created in await services.runs.create("quick", RunRequest(), [None] * 3):
            os.write(1, f"{created.run_id}\n".encode())


if __name__ == "__main__":
    asyncio.run(main())
