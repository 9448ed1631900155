"""Functions that the jobs of foliot.toml call. They do not import Foliot."""

import shutil
import time


def free_space(path: str = ".") -> dict[str, float]:
    """Return the free space of a disk in percent. The result of a function is the output of its run."""
    usage = shutil.disk_usage(path)
    print(f"{usage.free / 1024**3:.1f} GiB are free")
    return {"free_percent": round(100 * usage.free / usage.total, 1)}


def count_down(start: int = 5) -> None:
    """Print a number every second, to be watched with: foliot trigger count-down --follow."""
    for number in range(start, 0, -1):
        print(number, flush=True)
        time.sleep(1)
    print("done")
