"""An application with a job that fails and notifies a webhook."""

import os

from foliot import Foliot

app = Foliot(os.environ["FOLIOT_STORAGE"])


@app.job(max_lost=100, webhook_url=os.environ["CRASH_HOOK"])
async def broken() -> None:
    raise ValueError("boom")
