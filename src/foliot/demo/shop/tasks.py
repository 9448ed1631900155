"""Functions that the jobs of foliot.toml call, each in its own process."""

import sys
import time
from typing import Any, Final

from foliot import current_run

PRODUCTS: Final = 200
SHELVES: Final = 24
SECONDS: Final = 4
"""How long reading one shelf takes."""


def list_products() -> None:
    """Print the number of each product with images. `resize-images` runs once for each line."""
    for number in range(1, PRODUCTS + 1):
        print(f"product-{number:04}")


def scan_shelves(shelves: int = SHELVES) -> dict[str, int]:
    """Read shelf by shelf and report the progress. The result of a function is the output of its run."""
    for shelf in range(1, shelves + 1):
        time.sleep(SECONDS)
        print(f"shelf {shelf:02}: {shelf * 37 % 90 + 5} parcels", flush=True)
        current_run().progress(shelf / shelves, f"shelf {shelf} of {shelves}")
    return {"shelves": shelves, "parcels": sum(shelf * 37 % 90 + 5 for shelf in range(1, shelves + 1))}


def index_products(parts: int = 6) -> dict[str, int]:
    """Add the changed products to the index, part by part."""
    for part in range(1, parts + 1):
        time.sleep(1)
        print(f"part {part} of {parts}: {part * 113 % 700} documents", flush=True)
        current_run().progress(part / parts, f"part {part} of {parts}")
    return {"parts": parts}


def write_invoices(currency: str = "EUR") -> dict[str, Any]:
    """Write the invoices of one day."""
    print(f"reading the orders of yesterday in {currency}")
    time.sleep(2)
    print("one address is incomplete: customer 4471", file=sys.stderr)
    print("188 invoices written and mailed")
    return {"invoices": 188, "currency": currency}
