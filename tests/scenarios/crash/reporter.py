"""Reports the end of a launched run: `python -m tests.scenarios.crash.reporter KEY success`."""

import asyncio
import os
import sys

from foliot.wiring.services import open_services


async def main(key: str, status: str) -> None:
    await (await open_services(os.environ["FOLIOT_STORAGE"])).launches.report(key, status)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
