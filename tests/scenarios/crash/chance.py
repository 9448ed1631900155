"""Chance that can be repeated: the seed is printed, and FOLIOT_SEED brings it back."""

import os
import random


def a_chance() -> random.Random:
    seed = int(os.environ.get("FOLIOT_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"FOLIOT_SEED={seed}")
    return random.Random(seed)
