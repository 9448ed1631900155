"""Functions that the jobs of foliot.toml call. They need nothing from Foliot."""

import shutil
import time


def free_space(path: str = ".") -> dict[str, float]:
    """How much room is left on a disk, in percent. What a function returns is the output of its run."""
    usage = shutil.disk_usage(path)
    print(f"{usage.free / 1024**3:.1f} GiB are free")
    return {"free_percent": round(100 * usage.free / usage.total, 1)}


def count_down(start: int = 5) -> None:
    """Something to watch: foliot trigger count-down --follow."""
    for number in range(start, 0, -1):
        print(number, flush=True)
        time.sleep(1)
    print("done")
