"""What each job does in the history: how long it takes, what it prints, and on which days something goes wrong.

The table at the end has an entry for each job of shop/foliot.toml, by its id. A story of three days has every kind of
incident at least once, so most of them depend on the day of the story and not on chance.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from foliot.demo.ansi import bold, cyan, dim, green, red, yellow
from foliot.demo.chain_acts import CHAIN_ACTS
from foliot.demo.scene import Act, Line, Scene, complain, exits, say
from foliot.demo.workflow_acts import WORKFLOW_ACTS
from foliot.domain.instant import MINUTE, Millis
from foliot.domain.run.outcome import Failure, Reason, Success

_PRODUCTS: Final = 200
_TRACEBACK: Final = """Traceback (most recent call last):
  File "/srv/shop/tasks.py", line 61, in index_products
    response = client.bulk(index="products", documents=documents)
  File "/srv/shop/search.py", line 118, in bulk
    raise SearchUnavailable(f"status {response.status}: {response.text}")
search.SearchUnavailable: status 429: too many requests, retry after 30 s"""


def act_of(scene: Scene) -> Act:
    """Return what an attempt does."""
    job_id = scene.attempt.job_id
    known = ACTS.get(job_id) or ACTS.get(job_id.rpartition(".")[0])
    return Act(scene.about(2), say(f"{job_id} done")) if known is None else known(scene)


def _api_health(scene: Scene) -> Act:
    if scene.is_between(5.0, 4.7):
        outcome = Failure("could not connect to 127.0.0.1:7070: connection refused", Reason.CONNECTION)
        return Act(Millis(40), (), outcome)
    if scene.happens(0.02) and scene.attempt.number == 1:
        text = "status 503 Service Unavailable, expected 200-299"
        return Act(scene.about(1.8), say("the database is being migrated"), Failure(text, Reason.HTTP_STATUS, 503))
    return Act(scene.about(0.06, 0.5), say('{"status":"ok"}'), Success(exit_code=200))


def _backup_database(scene: Scene) -> Act:
    tables = ("customers", "addresses", "orders", "order_lines", "invoices", "payments", "products", "prices", "stock")
    growth = 1 + scene.day / 60
    lines = [Line(bold("backup of shop@db1 to backup2:/srv/dumps"))]
    for table in tables:
        rows = round(scene.number(20_000, 90_000) * growth)
        size = f"{rows / 9_700:.1f} MB"
        lines += say(f"{cyan(f'{table:<12}')} {rows:>8} rows  {size:>9}  {dim('zstd -9')}")
    if scene.day % 13 == 1 and scene.hour < 5:
        lines += complain(
            f"{red('error:')} backup2: write /srv/dumps/shop.zst: no space left on device",
            "removing the incomplete dump",
        )
        return Act(scene.about(840 * growth), lines, exits(28), pauses=6)
    if scene.day % 7 == 4 and scene.attempt.number == 1:
        lines = lines[:4] + complain(f"{red('error:')} lost connection to the server during the query")
        return Act(scene.about(200), lines, exits(2), pauses=3)
    lines += say("copying 1 file to the other site", green("done: 9 tables, checksum 6f1c8a20"))
    return Act(scene.about(1_260 * growth, 0.1), lines, pauses=6, progress="part")


def _backup_verify(scene: Scene) -> Act:
    lines = say("restoring the newest dump into restore_test", "comparing the number of rows of 18 tables")
    return Act(scene.about(410, 0.15), [*lines, Line(green("18 of 18 tables are equal"))], pauses=3)


def _orders_sync(scene: Scene) -> Act:
    lines = say("reading new orders since the last run")
    is_stuck = scene.day % 10 == 0 and scene.hour == 12
    if is_stuck or scene.happens(0.01):
        lines += [*complain(yellow("warning: the warehouse answers slowly")), *say("page 1", "page 2")]
        return Act(Millis(80 * MINUTE if is_stuck else 41 * MINUTE), lines, pauses=3)
    orders = scene.number(4, 60)
    if scene.happens(0.07):
        again = "retrying later" if scene.attempt.number == 1 else "giving up"
        lines += complain(f"{red('error:')} the warehouse closed the connection after 30 s", again)
        return Act(scene.about(34), lines, exits(4))
    lines += say(*(f"order {70_000 + scene.number(0, 9_999)}  {green('accepted')}" for _ in range(min(orders, 12))))
    lines += say(f"{bold(orders)} orders sent, {orders // 2} shipped")
    return Act(scene.about(95 + orders, 0.3), lines)


def _stock_levels(scene: Scene) -> Act:
    if scene.happens(0.05):
        return Act(scene.about(5), complain("error: lock wait timeout exceeded"), exits(1))
    differ = scene.number(0, 6)
    return Act(scene.about(3.5, 0.5), say(f"{bold(412)} products compared, {yellow(differ)} differ"))


def _warehouse_scan(scene: Scene) -> Act:
    lines = say(*(f"shelf {shelf:02}: {scene.number(5, 95)} parcels" for shelf in range(1, 25)))
    output = msgspec.json.encode({"shelves": 24, "parcels": scene.number(900, 1_400)})
    return Act(scene.about(98, 0.12), lines, Success(output), pauses=4, progress="aisle")


def _search_index(scene: Scene) -> Act:
    if scene.data.get("full"):
        return _full_index(scene)
    parts = 6
    lines = [
        Line(f"{dim(f'[{part}/{parts}]')} part {part}: {scene.number(20, 700)} documents {green('indexed')}")
        for part in range(1, parts + 1)
    ]
    if scene.happens(0.03):
        lines = lines[:3] + complain(*_TRACEBACK.splitlines())
        return Act(scene.about(80), lines, Failure(_TRACEBACK, Reason.EXCEPTION))
    if scene.day % 12 == 7 and scene.happens(0.1):
        text = "the run exceeded its memory limit of 512 MB"
        return Act(scene.about(300), lines, Failure(text, Reason.LIMIT_MEMORY, 137, retryable=False))
    output = msgspec.json.encode({"parts": parts})
    is_slow = scene.day % 8 == 2 and scene.happens(0.15)
    return Act(scene.about(7_900 if is_slow else 190, 0.25), lines, Success(output))


def _full_index(scene: Scene) -> Act:
    """A run with a large log: 40,000 lines with two errors far from its ends."""
    lines = [Line(bold("rebuilding the whole index: 40000 documents"))]
    for number in range(1, 40_001):
        if number in (17_311, 17_312):
            lines += complain(f"{red('ERROR')} document {number}: field price: 12,90 is not a number")
        else:
            took = scene.number(1, 40)
            name = f"product-{number % _PRODUCTS:04}"
            lines += say(f"{dim(f'{number:>6}')} {name} {green('indexed')} in {took} ms, version {number % 9}")
    lines += say(f"{green('done')}: 39998 documents, {red('2 errors')}, see https://search.shop.example/jobs/rebuild")
    return Act(scene.about(2_400, 0.05), lines, pauses=8, progress="part")


def _suggestions(scene: Scene) -> Act:
    span = 70 * 60 if scene.happens(0.02) else 150
    return Act(scene.about(span), say(f"{scene.number(3_000, 3_300)} suggestions for 18 languages"))


def _list_products(scene: Scene) -> Act:
    lines = say(*(f"product-{number:04}" for number in range(1, _PRODUCTS + 1)))
    return Act(scene.about(14), lines)


def _resize_image(scene: Scene) -> Act:
    if scene.attempt.job_id.endswith(".reducer"):
        return Act(scene.about(3), say("new images are listed in /srv/images/changes.txt"))
    lines = say(f"resizing {scene.item}")
    if scene.item.endswith(("73", "77")) and scene.day // 7 % 2 == 0:
        return Act(scene.about(6), lines + complain(f"{red('error:')} the file is not an image"), exits(3))
    if scene.happens(0.03) and scene.attempt.number == 1:
        return Act(scene.about(20), lines + complain("error: could not allocate 512 MB"), exits(137))
    return Act(scene.about(11, 0.5), [*lines, Line(green("3 sizes written"))])


def _newsletter(scene: Scene) -> Act:
    lines = say(f"list {scene.data.get('list', 'all')}", "batch 1 of 3", "batch 2 of 3", "batch 3 of 3")
    accepted = scene.number(2_150, 2_260)
    lines += say(f"{green(accepted)} messages accepted, {yellow(scene.number(2, 19))} bounced")
    return Act(scene.about(260), lines, pauses=3)


def _price_report(scene: Scene) -> Act:
    return Act(scene.about(74), say("12 shops compared", f"{scene.number(20, 50)} products are cheaper elsewhere"))


def _invoices(scene: Scene) -> Act:
    currency, count = scene.data.get("currency", "EUR"), scene.number(140, 240)
    lines = say(f"reading the orders of yesterday in {currency}")
    if scene.happens(0.2) and scene.attempt.number == 1:
        error = "smtplib.SMTPServerDisconnected: Connection unexpectedly closed"
        return Act(scene.about(41), lines + complain(error), Failure(error, Reason.EXCEPTION))
    lines += [*complain("one address is incomplete: customer 4471"), *say(f"{count} invoices written and mailed")]
    return Act(scene.about(230), lines, Success(msgspec.json.encode({"invoices": count, "currency": currency})))


def _exchange_rates(scene: Scene) -> Act:
    lines = say(f"rates of {scene.data.get('source', '?')}")
    if scene.happens(0.04):
        return Act(Millis(3 * MINUTE), lines)  # longer than its timeout
    usd, yen = 1.08 + scene.random.random() / 50, 160 + scene.random.random() * 6
    return Act(scene.about(1.9, 0.4), lines + say(f"EUR 1.0000  USD {usd:.4f}  JPY {yen:.2f}"))


def _legacy_export(scene: Scene) -> Act:
    lines = say("connecting to books.accountant.example")
    if scene.is_between(2, -1):
        lines += complain(f"{red('error:')} no route to host books.accountant.example")
        return Act(scene.about(21, 0.05), lines, exits(69))
    return Act(scene.about(52), lines + say(f"{scene.number(60, 120)} bookings written", green("accepted")))


def _thumbnail_cleanup(scene: Scene) -> Act:
    return Act(scene.about(33), say(f"{scene.number(0, 96)} thumbnails deleted"))


def _warm_cache(scene: Scene) -> Act:
    return Act(scene.about(8), say(*(f"GET {page} 200" for page in ("/", "/espresso", "/grinders", "/beans"))))


def _weekly_summary(scene: Scene) -> Act:
    lines = say(
        "## The week of the shop",
        "",
        "- The backup failed once, because the other site was full. Anna has freed space.",
        "- Orders were sent late on one day, because the warehouse answered slowly.",
        "- The export for the accountant should be watched.",
    )
    return Act(scene.about(96), lines, pauses=2)


ACTS: Final[Mapping[str, Callable[[Scene], Act]]] = {
    "api-health": _api_health,
    "backup-database": _backup_database,
    "backup-verify": _backup_verify,
    "orders-sync": _orders_sync,
    "stock-levels": _stock_levels,
    "warehouse-scan": _warehouse_scan,
    "search-index": _search_index,
    "suggestions": _suggestions,
    "list-products": _list_products,
    "resize-images": _resize_image,
    "newsletter": _newsletter,
    "price-report": _price_report,
    "invoices": _invoices,
    "exchange-rates": _exchange_rates,
    "legacy-export": _legacy_export,
    "thumbnail-cleanup": _thumbnail_cleanup,
    "warm-cache": _warm_cache,
    "weekly-summary": _weekly_summary,
    **WORKFLOW_ACTS,
    **CHAIN_ACTS,
}
