"""Jobs as Python code. Start them with `foliot serve examples.hello:app`; foliot.toml has jobs without code.

The storage is SQLite in ./data, or the database in the environment variable FOLIOT_STORAGE.
"""

import asyncio
import os
import random
from datetime import timedelta

from foliot import Foliot

app = Foliot(os.environ.get("FOLIOT_STORAGE", "sqlite:///data/foliot.db"))


@app.job()
def count_words(text: str) -> int:
    """Return the number of words. A plain function runs in a thread, so it may block."""
    return len(text.split())


@app.job(retries=3, retry_delay=1)
async def fetch_weather(city: str) -> str:
    """Return the weather. Every second call fails on average and is retried."""
    await asyncio.sleep(0.1)
    if random.random() < 0.5:  # noqa: S311 - not used for security
        raise ConnectionError(f"no answer about {city}")
    return f"{city}: mild, light wind"


app.shell("disk-usage", "df -h .")

app.schedule("weather", fetch_weather, every=timedelta(seconds=10), payload={"city": "Lisbon"})
app.schedule("words", count_words, cron="* * * * *", payload={"text": "to be or not to be"})
app.schedule("disk-usage-on-workdays", "disk-usage", cron="*/5 8-18 * * MON-FRI", timezone="Europe/Berlin")
