"""A few cases of every campaign; ``make campaign`` runs the rest."""

from __future__ import annotations

import pytest

from campaigns.campaign import NAMES, load, run
from optional_packages import need


@pytest.mark.parametrize("name", NAMES)
def test_no_case_breaks_its_promise(name):
    campaign = load(name)
    for package in campaign.packages:
        need(package)
    tally = run(campaign, 0, campaign.quick)
    assert tally.n_cases == campaign.quick
    assert not tally.bad, f"{campaign.promise} Broken by: {tally.bad}"
