"""How costs grow with what a stranger wrote. Machines differ and stall, so a cost is compared with another one on the same
machine in the same moment, never with a number of seconds."""

import time
from collections.abc import Callable

_TIMES, _ROUNDS = 8, 5
# Below this a clock says little (seconds).
_LEAST = 0.001


def grows_in_proportion(act: Callable[[int], object], size: int) -> bool:
    """Whether `act(size)` costs at most three times its share beside an eighth of the size (CPU of this thread). What grows
    with the square costs eight times its share. The best of some rounds counts, and the first that is good enough ends them."""
    short = whole = float("inf")
    for _ in range(_ROUNDS):
        short, whole = min(short, _cost(act, size // _TIMES)), min(whole, _cost(act, size))
        if whole < 3 * _TIMES * max(short, _LEAST):
            return True
    return False


def _cost(act: Callable[[int], object], size: int) -> float:
    began = time.thread_time()
    act(size)
    return time.thread_time() - began
