"""What the confidential values of a cell must be like, and how far a cell is from it.

Everything is counted in whole numbers and divided once, as `microagg.privacy.within_cells` does: a cell that just
satisfies a requirement here does so there, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg._kernels.jit import compiled

DISTINCT, ENTROPY, RECURSIVE, SHARE, RANGE, ORDERED, TREE = range(7)
LEAST_EXCESS = 1e-9  # of a requirement that does not hold, by however little
WHOLE = 2.0**62  # products below it are formed in whole numbers
RANGE_SLACK = 1e-9  # 0.3 - 0.1 is a little less than 0.2
ENTROPY_SLACK = 1e-12  # logarithms are rounded: an entropy that falls short of its bound by less holds


class Rules(NamedTuple):
    """Requirements on confidential attributes, and what is known about the attributes in the whole table.

    Codes of an ordered attribute are ranks 0 .. n_values - 1, those of a tree are nodes; a missing value has the code
    n_values in both cases that are ordered, and a node of its own in a tree.
    """

    what: np.ndarray  # (n_requirements,): DISTINCT ... TREE, those of one attribute together
    attribute: np.ndarray  # (n_requirements,)
    bound: np.ndarray  # (n_requirements,)
    rarest: np.ndarray  # (n_requirements,): l of RECURSIVE
    codes: np.ndarray  # (n_attributes, n_records)
    numbers: np.ndarray  # (n_attributes, n_records), for RANGE; nan is missing
    n_values: np.ndarray  # (n_attributes,)
    n_all: np.ndarray  # (n_attributes, 2): records of the whole table with a value, and without
    at: np.ndarray  # (n_attributes,): where the attribute begins in the lists below
    total: np.ndarray  # ordered: records up to each value; tree: records at or below each node
    running: np.ndarray  # ordered: sums of `total` before each value
    parent: np.ndarray  # tree: of each node, counted from `at`; the root's is -1
    step: np.ndarray  # tree: by how much the parent is higher
    height: np.ndarray  # (n_attributes,): of the root
    spread: np.ndarray  # (n_attributes,): tree: sum of step * total over all nodes


class Scratch(NamedTuple):
    """Working space for looking at one cell."""

    records: np.ndarray  # (n_records,)
    codes: np.ndarray  # (n_records,)
    tally: np.ndarray  # as many as nodes; zero between calls
    touched: np.ndarray  # as many as nodes
    counts: np.ndarray  # (n_records,)


@compiled
def allocate_scratch(n_records, n_nodes):
    return Scratch(
        np.empty(n_records, dtype=np.int64),
        np.empty(n_records, dtype=np.int64),
        np.zeros(n_nodes, dtype=np.int64),
        np.empty(n_nodes, dtype=np.int64),
        np.empty(n_records, dtype=np.int64),
    )


@compiled
def sort_in_place(items, count):
    """Shell sort: cells are small, and nothing is allocated."""
    gap = 1
    while gap < count // 3:  # ends: the gap triples
        gap = 3 * gap + 1
    while gap >= 1:  # ends: the gap shrinks to a third
        for i in range(gap, count):
            item = items[i]
            j = i
            while j >= gap and items[j - gap] > item:  # ends: j falls
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 3


@compiled
def count_values(codes, size, counts):
    """How often each value occurs among sorted codes, most frequent last; returns how many values there are."""
    found = 0
    for i in range(size):
        if i > 0 and codes[i] == codes[i - 1]:
            counts[found - 1] += 1
        else:
            counts[found] = 1
            found += 1
    sort_in_place(counts, found)
    return found


@compiled
def excess_of_cell(rules, scratch, size, first_only):
    """By how much the records in ``scratch.records`` miss the requirements in all; 0 if they satisfy every one.

    With ``first_only``, whatever the first requirement that is missed adds.
    """
    excess = 0.0
    attribute, n_found = -1, 0
    for r in range(len(rules.what)):
        if rules.attribute[r] != attribute:
            attribute = rules.attribute[r]
            codes = rules.codes[attribute]
            for i in range(size):
                scratch.codes[i] = codes[scratch.records[i]]
            sort_in_place(scratch.codes, size)
            n_found = 0
        what, bound = rules.what[r], rules.bound[r]
        if what <= SHARE and n_found == 0:
            n_found = count_values(scratch.codes, size, scratch.counts)
        missed = 0.0
        if what == DISTINCT:
            missed = (bound - n_found) / bound
        elif what == ENTROPY:
            entropy = 0.0
            for i in range(n_found):
                share = scratch.counts[i] / size
                entropy -= share * np.log(share)
            if np.exp(max(entropy, 0.0)) < bound * (1.0 - ENTROPY_SLACK):
                missed = max(1.0 - max(entropy, 0.0) / np.log(bound), LEAST_EXCESS)
        elif what == RECURSIVE:
            rest = 0
            for i in range(n_found - rules.rarest[r] + 1):
                rest += scratch.counts[i]
            most = scratch.counts[n_found - 1]
            if rest == 0 or not most / rest < bound:
                missed = max((most - bound * rest) / size, LEAST_EXCESS) + max(rules.rarest[r] - n_found, 0)
        elif what == SHARE:
            missed = scratch.counts[n_found - 1] / size - bound
        elif what == RANGE:
            missed = 1.0 - range_of_cell(rules.numbers[attribute], scratch.records, size) / (
                bound * (1.0 - RANGE_SLACK)
            )
        elif what == ORDERED:
            missed = ordered_distance(rules, attribute, scratch.codes, size) - bound
        else:
            missed = tree_distance(rules, attribute, scratch, size) - bound
        if missed > 0.0:
            excess += max(missed, LEAST_EXCESS)
            if first_only:
                return excess
    return excess


@compiled
def range_of_cell(numbers, records, size):
    low, high = np.inf, -np.inf
    for i in range(size):
        number = numbers[records[i]]
        if number == number:
            low, high = min(low, number), max(high, number)
    return high - low if high > low else 0.0


@compiled
def ordered_distance(rules, attribute, codes, size):
    """Earth mover's distance along the order, from sorted codes; missing values are at distance 1 from all others."""
    n_values, n_present, n_missing = rules.n_values[attribute], rules.n_all[attribute, 0], rules.n_all[attribute, 1]
    present = size
    while present > 0 and codes[present - 1] == n_values:  # ends: present falls
        present -= 1
    n_all, lacking, steps = n_present + n_missing, size - present, max(n_values - 1, 1)
    between = abs(lacking * n_all - n_missing * size) / (size * n_all)
    if present == 0 or n_values <= 1:
        return between
    # What is present moves along the order, as much of it as both have.
    has_more = lacking * n_all >= n_missing * size
    one, two = (size, n_present) if has_more else (n_all, present)
    if float(n_all) * float(size) * float(n_values) < WHOLE:
        return between + moved_along_order(rules, attribute, codes, present, present, n_present) / (one * two * steps)
    moved = moved_along_order(rules, attribute, codes, present, float(present), float(n_present))
    return between + moved / (float(one) * float(two) * float(steps))


@compiled
def moved_along_order(rules, attribute, codes, present, own, everybody):
    """Sum over values of abs(records of the cell up to it * all - records of all up to it * those of the cell).

    ``own`` and ``everybody`` are the numbers of records of the cell and of all, whole or, where products would be too
    large for that, not.
    """
    last, at = rules.n_values[attribute] - 1, rules.at[attribute]
    moved = own * 0
    low = 0
    for j in range(present + 1):
        high = min(codes[j], last) if j < present else last
        if high > low:
            # Up to `meet` the cell is ahead of the table, from there on the table of the cell.
            ahead = j * everybody
            meet, above = low, high
            while meet < above:  # ends: halves
                middle = (meet + above) // 2
                if own * rules.total[at + middle] >= ahead:
                    above = middle
                else:
                    meet = middle + 1
            moved += ahead * (meet - low) - own * (rules.running[at + meet] - rules.running[at + low])
            moved += own * (rules.running[at + high] - rules.running[at + meet]) - ahead * (high - meet)
            low = high
    return moved


@compiled
def tree_distance(rules, attribute, scratch, size):
    """Earth mover's distance along the edges of a tree; an edge is as long as its ends differ in height, halved."""
    at, n_all = rules.at[attribute], rules.n_all[attribute, 0]
    n_touched = 0
    for i in range(size):
        node = scratch.codes[i]
        while node >= 0:  # ends: parents lead to the root
            if scratch.tally[node] == 0:
                scratch.touched[n_touched] = node
                n_touched += 1
            scratch.tally[node] += 1
            node = rules.parent[at + node]
    if float(size) * float(rules.spread[attribute]) * 4.0 < WHOLE:
        moved = moved_along_tree(rules, attribute, scratch, n_touched, size, n_all)
        return moved / (2 * rules.height[attribute] * size * n_all)
    moved = moved_along_tree(rules, attribute, scratch, n_touched, float(size), float(n_all))
    return moved / (2.0 * rules.height[attribute] * float(size) * float(n_all))


@compiled
def moved_along_tree(rules, attribute, scratch, n_touched, own, everybody):
    """Sum over nodes of their step times abs(...), as `moved_along_order`; clears the tally."""
    at = rules.at[attribute]
    moved = own * rules.spread[attribute]
    for i in range(n_touched):
        node = scratch.touched[i]
        there, due = scratch.tally[node] * everybody, own * rules.total[at + node]
        moved += rules.step[at + node] * (abs(there - due) - due)
        scratch.tally[node] = 0
    return moved
