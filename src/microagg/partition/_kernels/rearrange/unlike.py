"""Near records of another confidential value: whom a record is exchanged with to make cells diverse."""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg._kernels.random import draw_below
from microagg.partition._kernels.rearrange.cells import NOBODY, between


@compiled
def offer(X, record, other, found, apart, nominal):
    """Note another record among the nearest that were found, nearest first; False if it is not one of them."""
    last = len(found) - 1
    distance = between(X, record, other, nominal)
    if distance >= apart[last]:
        return False
    for place in range(last + 1):
        if found[place] == other:
            return False
    place = last
    while place > 0 and apart[place - 1] > distance:  # ends: place falls
        apart[place], found[place] = apart[place - 1], found[place - 1]
        place -= 1
    apart[place], found[place] = distance, other
    return True


@compiled
def unlike_records(X, near, codes, wanted, draws, rounds, rng, stop, nominal):
    """For each record, near ones with another code: among some drawn at random, then among those near to them.

    A record also looks at what near records of its own code have found. They are the nearest of all nearly always.
    """
    n_records = X.shape[0]
    found = np.full((n_records, wanted), NOBODY, dtype=np.int32)
    apart = np.full((n_records, wanted), np.inf)
    if wanted == 0:  # `offer` needs a place to offer
        return found
    for record in range(n_records):
        for _ in range(draws):
            other = draw_below(rng, n_records)
            if codes[other] != codes[record]:
                offer(X, record, other, found[record], apart[record], nominal)
    for _ in range(rounds):
        for record in range(n_records):
            if stop[0] != 0:
                return found
            for place in range(near.shape[1]):
                other = near[record, place]
                if other < 0:
                    continue
                if codes[other] != codes[record]:
                    offer(X, record, other, found[record], apart[record], nominal)
                    continue
                for i in range(wanted):
                    if found[other, i] != NOBODY:
                        offer(X, record, found[other, i], found[record], apart[record], nominal)
            for i in range(wanted):
                middle = found[record, i]
                if middle == NOBODY:
                    continue
                for place in range(near.shape[1]):
                    other = near[middle, place]
                    if other >= 0 and codes[other] != codes[record]:
                        offer(X, record, other, found[record], apart[record], nominal)
    return found
