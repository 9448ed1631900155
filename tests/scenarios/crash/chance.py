"""Repeatable random numbers: the seed is printed, and FOLIOT_SEED sets it."""

import os
import random


def fresh_seed() -> int:
    return int(os.environ.get("FOLIOT_SEED") or random.SystemRandom().randrange(1 << 32))


def a_chance() -> random.Random:
    seed = fresh_seed()
    print(f"FOLIOT_SEED={seed}")
    return random.Random(seed)
