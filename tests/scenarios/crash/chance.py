"""Repeatable random numbers: the seed is printed, and FOLIOT_SEED sets it."""

import os
import random


def a_chance() -> random.Random:
    seed = int(os.environ.get("FOLIOT_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"FOLIOT_SEED={seed}")
    return random.Random(seed)
