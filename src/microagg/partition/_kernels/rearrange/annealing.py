"""Annealing of cells that all satisfy their requirements: moves, exchanges, joins, and divisions of one or two cells.

Every step leaves every cell with at least k records and all requirements satisfied; before, while cells are led
towards the requirements, a step may leave one missed at a price that rises. Kernels look at ``stop``, an array of one
number that another thread sets, and end when it is not 0.
"""

from __future__ import annotations

import numpy as np

from microagg._kernels.jit import compiled
from microagg._kernels.random import draw_below, draw_share
from microagg.partition._kernels.rearrange.cells import (
    NOBODY,
    between,
    centroid_distance,
    draw_member,
    free_cell,
    join,
    link,
    list_members,
    sum_up_cell,
    to_cell,
    unlink,
)
from microagg.partition._kernels.rearrange.rules import excess_of_cell

ANYWHERE = 0.1  # how often a step looks for a cell beyond the near ones
MOVES = 0.35  # how often a record is moved rather than exchanged
JOINS = 0.0003  # how often two cells are joined: more often, they end as a few large ones
DIVISIONS = 0.03  # how often, joins included, cells are divided anew
UNLIKE = 0.3  # how often a step looks for a record of another confidential value
LIKE = 0.3  # how often a record of the same confidential value is looked for in the other cell
FORBIDDEN = 1e300  # the price of missing a requirement where every cell satisfies all
LEAST_MISSED = 0.1  # counts for a requirement that is missed by however little
LEAST_CHANGE = 1e-12  # relative to the temperature's unit; less is rounding


@compiled
def is_accepted(change, unit, warmth, rng):
    """Accept gains always, and losses at random; ``warmth`` times ``unit`` is the temperature."""
    if change < -LEAST_CHANGE * unit:
        return True
    if warmth <= 0.0 or change <= LEAST_CHANGE * unit:
        return False
    return change < -warmth * unit * np.log(draw_share(rng))


@compiled
def most_change(unit, warmth, rng):
    """What a step may add at most to be accepted: gains always are, losses at random."""
    if warmth <= 0.0:
        return -LEAST_CHANGE * unit
    return -warmth * unit * np.log(draw_share(rng))


@compiled
def other_cell(cells, near, record, rng):
    """A cell near a record, other than its own; its own if none was found."""
    n_near = near.shape[1]
    chance = draw_share(rng)
    if chance < ANYWHERE:
        return cells.label[draw_below(rng, len(cells.label))]
    share = draw_share(rng)
    neighbour = near[record, min(int(share * share * n_near), n_near - 1)]
    if neighbour < 0:
        return cells.label[record]
    if chance < 3.0 * ANYWHERE:  # by way of that cell to one of its neighbours
        neighbour = near[draw_member(cells, cells.label[neighbour], rng), draw_below(rng, n_near)]
        if neighbour < 0:
            return cells.label[record]
    return cells.label[neighbour]


@compiled
def unlike_record(unlike, record, rng):
    """A near record of another confidential value, now and then; NOBODY otherwise."""
    if unlike.shape[1] == 0 or draw_share(rng) >= UNLIKE:
        return NOBODY
    return unlike[record, draw_below(rng, unlike.shape[1])]


@compiled
def partner_of(cells, rules, unlike, record, there, neighbour, rng):
    """Which record of another cell a record is exchanged with: any, one of the same value, or the neighbour itself."""
    if neighbour != NOBODY and draw_below(rng, 2) == 0:
        return neighbour
    partner = draw_member(cells, there, rng)
    if unlike.shape[1] == 0 or draw_share(rng) >= LIKE:
        return partner
    codes = rules.codes[0]
    for _ in range(cells.size[there]):
        if codes[partner] == codes[record]:
            break
        partner = cells.after[partner]
        if partner == NOBODY:
            partner = cells.first[there]
    return partner


@compiled
def missed_by(cells, rules, scratch, cell, leaves, joins, price):
    """By how much a cell misses the requirements, times its size, if one record leaves and another joins it.

    NOBODY for neither. A large cell counts more than a small one: records that fit nowhere are not to gather there.
    """
    size = list_members(cells, cell, scratch.records, 0)
    if leaves >= 0:
        for place in range(size):
            if scratch.records[place] == leaves:
                size -= 1
                scratch.records[place] = scratch.records[size]
                break
    if joins >= 0:
        scratch.records[size] = joins
        size += 1
    excess = excess_of_cell(rules, scratch, size, price >= FORBIDDEN)
    return size * (excess + LEAST_MISSED) if excess > 0.0 else 0.0


@compiled
def note_missed(cells, rules, scratch, missed):
    """By how much each cell misses the requirements; returns how many do."""
    count = 0
    for cell in range(len(cells.size)):
        missed[cell] = missed_by(cells, rules, scratch, cell, NOBODY, NOBODY, 0.0) if cells.size[cell] > 0 else 0.0
        count += missed[cell] > 0.0
    return count


@compiled
def is_worth(cells, rules, scratch, missed, price, here, there, leaves, joins, room):
    """Whether a step that takes ``leaves`` from here to there, and ``joins`` the other way, is accepted.

    ``room`` is what it may still add; what both cells miss is noted if so.
    """
    room += price * (missed[here] + missed[there])
    if room <= 0.0:
        return False
    at_there = missed_by(cells, rules, scratch, there, joins, leaves, price)
    if at_there > 0.0 and (price >= FORBIDDEN or price * at_there >= room):
        return False
    at_here = missed_by(cells, rules, scratch, here, leaves, joins, price)
    if at_here > 0.0 and (price >= FORBIDDEN or price * (at_there + at_here) >= room):
        return False
    missed[here], missed[there] = at_here, at_there
    return True


@compiled
def try_move(X, cells, rules, scratch, missed, price, record, there, k, unit, warmth, rng, nominal):
    """Move a record to another cell if that is accepted and both cells satisfy their requirements."""
    here = cells.label[record]
    if cells.size[here] <= k:
        return False
    from_here, from_there = to_cell(X, cells, record, here, nominal), to_cell(X, cells, record, there, nominal)
    less, more = cells.pairs[here] - from_here, cells.pairs[there] + from_there
    change = less / (cells.size[here] - 1) - cells.pairs[here] / cells.size[here]
    change += more / (cells.size[there] + 1) - cells.pairs[there] / cells.size[there]
    room = most_change(unit, warmth, rng) - change
    if not is_worth(cells, rules, scratch, missed, price, here, there, record, NOBODY, room):
        return False
    unlink(X, cells, record)
    link(X, cells, record, there)
    cells.pairs[here], cells.pairs[there] = max(less, 0.0), more
    return True


@compiled
def try_exchange(X, cells, rules, scratch, missed, price, record, partner, unit, warmth, rng, nominal):
    """Exchange two records of different cells if that is accepted and both cells satisfy their requirements."""
    here, there = cells.label[record], cells.label[partner]
    apart = between(X, record, partner, nominal)
    new_here = (
        cells.pairs[here] - to_cell(X, cells, record, here, nominal) + to_cell(X, cells, partner, here, nominal) - apart
    )
    new_there = (
        cells.pairs[there]
        - to_cell(X, cells, partner, there, nominal)
        + to_cell(X, cells, record, there, nominal)
        - apart
    )
    change = (new_here - cells.pairs[here]) / cells.size[here] + (new_there - cells.pairs[there]) / cells.size[there]
    room = most_change(unit, warmth, rng) - change
    if not is_worth(cells, rules, scratch, missed, price, here, there, record, partner, room):
        return False
    unlink(X, cells, record)
    unlink(X, cells, partner)
    link(X, cells, record, there)
    link(X, cells, partner, here)
    cells.pairs[here], cells.pairs[there] = max(new_here, 0.0), max(new_there, 0.0)
    return True


@compiled
def try_join(X, cells, one, two, unit, warmth, rng, nominal):
    """Make two cells one if that is accepted: requirements that both satisfy, both together do."""
    if not is_accepted(centroid_distance(X, cells, one, two, nominal), unit, warmth, rng):
        return False
    join(X, cells, one, two, nominal)
    return True


@compiled
def order_by_code(rules, work, count, rng):
    """Put records into the order of their codes in one of the attributes, drawn at random; equal ones as they come."""
    codes = rules.codes[draw_below(rng, rules.codes.shape[0])]
    for i in range(1, count):
        record = work[i]
        j = i
        while j > 0 and codes[work[j - 1]] > codes[record]:  # ends: j falls
            work[j] = work[j - 1]
            j -= 1
        work[j] = record


@compiled
def try_division(X, cells, rules, scratch, work, one, two, k, unit, warmth, rng, nominal):
    """Divide the records of one cell, or of two (``two`` is not NOBODY), into two cells around two of them.

    Records that follow each other in the order of a confidential attribute are dealt to different cells, each to the
    nearer one, so that both get values of all sorts.
    """
    count = list_members(cells, one, work, 0)
    old = cells.pairs[one] / cells.size[one]
    if two >= 0:
        count = list_members(cells, two, work, count)
        old += cells.pairs[two] / cells.size[two]
    elif cells.n_free[0] == 0:
        return False
    if count < 2 * k or count > len(work) // 2:
        return False
    left = work[draw_below(rng, count)]
    right, farthest = left, -1.0
    for _ in range(3):  # one of the farther ones from it
        other = work[draw_below(rng, count)]
        apart = between(X, left, other, nominal)
        if apart > farthest:
            right, farthest = other, apart
    if farthest <= 0.0:
        return False
    order_by_code(rules, work, count, rng)
    start = draw_below(rng, 2)
    n_left, n_right = 0, 0
    half = len(work) // 2
    for i in range(count):
        record = work[i]
        pull = between(X, record, left, nominal) - between(X, record, right, nominal)
        goes_left = pull < 0.0
        if (i + start) % 2 == 1:  # the second of a pair, unless the first record is one: where the other did not go
            goes_left = work[half + i - 1] == 0 if i > 0 else goes_left
        elif i + 1 < count:
            following = work[i + 1]
            goes_left = pull < between(X, following, left, nominal) - between(X, following, right, nominal)
        work[half + i] = 1 if goes_left else 0
        if goes_left:
            n_left += 1
        else:
            n_right += 1
    if n_left < k or n_right < k:
        return False
    return carry_out_division(X, cells, rules, scratch, work, one, two, count, old, unit, warmth, rng, nominal)


@compiled
def carry_out_division(X, cells, rules, scratch, work, one, two, count, old, unit, warmth, rng, nominal):
    """Make the division noted in the second half of ``work`` if it is accepted and satisfies the requirements."""
    half = len(work) // 2
    for side in range(2):
        size = 0
        for i in range(count):
            if work[half + i] == side:
                scratch.records[size] = work[i]
                size += 1
        if excess_of_cell(rules, scratch, size, True) > 0.0:
            return False
    target = two
    if two < 0:
        cells.n_free[0] -= 1
        target = cells.free[cells.n_free[0]]
    # Carried out first, since nothing but the cells knows their SSE; undone if it is not accepted.
    for i in range(count):
        work[half + i] += 2 * (1 if cells.label[work[i]] == one else 0)
        unlink(X, cells, work[i])
        link(X, cells, work[i], one if work[half + i] % 2 == 1 else target)
    sum_up_cell(X, cells, one, nominal)
    sum_up_cell(X, cells, target, nominal)
    new = cells.pairs[one] / cells.size[one] + cells.pairs[target] / cells.size[target]
    if is_accepted(new - old, unit, warmth, rng):
        return True
    for i in range(count):
        unlink(X, cells, work[i])
        link(X, cells, work[i], one if work[half + i] >= 2 else two if two >= 0 else one)
    sum_up_cell(X, cells, one, nominal)
    if two >= 0:
        sum_up_cell(X, cells, two, nominal)
    else:
        free_cell(cells, target)
    return False


@compiled
def anneal(X, near, unlike, cells, rules, scratch, missed, price, work, k, steps, unit, warmth, rng, stop, nominal):
    """Try ``steps`` changes; returns how many were made.

    ``price`` is what a cell that misses requirements costs, for each unit of ``missed``. FORBIDDEN: every cell
    satisfies them all, and still does afterwards; cells are joined and divided then, too.
    """
    n_records, made = X.shape[0], 0
    shapes = DIVISIONS if price >= FORBIDDEN else 0.0
    for _ in range(steps):
        if stop[0] != 0:
            break
        record = draw_below(rng, n_records)
        here = cells.label[record]
        neighbour = unlike_record(unlike, record, rng)
        there = other_cell(cells, near, record, rng) if neighbour == NOBODY else cells.label[neighbour]
        kind = draw_share(rng)
        if kind < min(JOINS, shapes):
            if there != here:
                made += try_join(X, cells, here, there, unit, warmth, rng, nominal)
        elif kind < shapes:
            alone = warmth <= 0.0 and cells.size[here] >= 2 * k and draw_below(rng, 2) == 0
            if alone or there != here:
                two = NOBODY if alone else there
                made += try_division(X, cells, rules, scratch, work, here, two, k, unit, warmth, rng, nominal)
        elif there == here:
            continue
        elif kind < shapes + MOVES:
            made += try_move(X, cells, rules, scratch, missed, price, record, there, k, unit, warmth, rng, nominal)
        else:
            partner = partner_of(cells, rules, unlike, record, there, neighbour, rng)
            made += try_exchange(X, cells, rules, scratch, missed, price, record, partner, unit, warmth, rng, nominal)
    return made
