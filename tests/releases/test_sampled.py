"""Releases of sampled records: what is drawn, what is promised, and what can and cannot be checked."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import GuaranteeError, Recipe
from microagg._random import uniforms_from
from microagg.aggregate.centroid import Cells
from microagg.aggregate.moments import cell_moments
from microagg.aggregate.sampling import draw_numbers
from microagg.aggregate.spikes import amounts_off, find_spike
from microagg.errors import RecipeError, TableError
from microagg.releases import representatives
from microagg.releases.check.check import check_release, check_table

SAMPLED = {"aggregate": {"form": "sampled"}}


@pytest.fixture
def people():
    rng = np.random.default_rng(6)
    n = 400
    return pa.table(
        {
            "age": rng.integers(18, 90, n),
            "pay": rng.lognormal(7, 1, n),
            "job": rng.choice(["clerk", "farmer", "smith"], n),
            "grade": rng.choice(["low", "mid", "high"], n),
            "ill": rng.choice(["yes", "no"], n),
        }
    )


ATTRIBUTES = {
    "age": numeric(bounds=[18, 90]),
    "pay": numeric(resolution=0.5),
    "job": nominal(),
    "grade": ordinal(categories=["low", "mid", "high"]),
    "ill": "confidential",
}


def recipe(**more):
    return Recipe(**({"k": 20, "attributes": ATTRIBUTES} | SAMPLED | more))


def test_records_are_drawn_within_bounds_and_from_the_categories_of_their_cell(people):
    made = microagg.release(people, recipe(output={"order": "kept"}), seed=2)
    table = made.table
    assert table.schema.equals(people.schema)
    age = table["age"].to_numpy()
    assert (age.min(), age.max()) == (18, 90)  # some of 400 draws are clamped to either bound
    assert not (np.mod(table["pay"].to_numpy(), 0.5) != 0).any()
    assert table["ill"].equals(people["ill"])
    for name in ("job", "grade"):
        before, after = (np.array(one[name].to_pylist()) for one in (people, table))
        assert (before != after).any()
        for cell in range(made.n_cells):
            assert set(after[made.partition == cell]) <= set(before[made.partition == cell])
    combinations = set(zip(*(table[name].to_pylist() for name in ("age", "pay", "job", "grade")), strict=True))
    assert len(combinations) > 350


def test_the_table_keeps_its_mean_and_variance():
    """The statistical gain over centroids, which keep the mean and lose the variance within cells."""
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=4000), "y": rng.normal(size=4000)})
    base = Recipe(k=100, attributes={"x": numeric(), "y": numeric()})
    centroids = microagg.release(table, base).table["x"].to_numpy()
    drawn = microagg.release(table, base.changed({"aggregate.form": "sampled"}), seed=1).table["x"].to_numpy()
    assert centroids.var() < 0.95
    assert drawn.var() == pytest.approx(table["x"].to_numpy().var(), abs=0.05)
    assert drawn.mean() == pytest.approx(table["x"].to_numpy().mean(), abs=0.02)


def test_the_statement_promises_draws_and_not_k_anonymity(people):
    statement = microagg.release(people, recipe()).statement
    (guarantee,) = statement.guarantees
    assert guarantee.title == "drawn from cells of at least k (k = 20)"
    assert statement.recounts == ()
    assert statement.for_publication
    said = " ".join(str(statement).split())
    assert "Nothing can be counted on the released table" in said
    assert "k-anonymity: published combinations may occur once" in said
    assert "records share it" not in said


def test_chance_is_the_system_s_unless_a_seed_is_given(people):
    drawn = [microagg.release(people, recipe(output={"order": "kept"})).table for _ in range(2)]
    assert not drawn[0].equals(drawn[1])
    seeded = [microagg.release(people, recipe(), seed=4) for _ in range(2)]
    assert seeded[0].table.equals(seeded[1].table)
    assert not seeded[0].statement.for_publication


def test_a_saved_release_is_checked_for_what_can_be(people, tmp_path):
    made = microagg.release(people, recipe())
    made.save(tmp_path / "out")
    findings = {finding.name: finding for finding in check_release(tmp_path / "out")}
    assert all(finding.holds for finding in findings.values())
    drawn = findings["drawn from cells of at least k = 20 records: age, pay, job, grade"]
    assert "nothing can be counted on the file" in drawn.detail
    assert "smallest cell has 20 records" in drawn.detail
    assert not any("k-anonymity" in name for name in findings)
    file_findings = check_table(tmp_path / "out" / "table.csv", recipe())
    assert all(finding.holds for finding in file_findings)
    assert "only that the columns are there" in file_findings[1].detail
    lacking = check_table(tmp_path / "out" / "table.csv", recipe(attributes=ATTRIBUTES | {"town": nominal()}))
    assert not lacking[1].holds


def test_a_sampled_release_cannot_pass_as_k_anonymous(people, tmp_path):
    folder = microagg.release(people, recipe()).save(tmp_path / "out")
    statement = json.loads((folder / "statement.json").read_text())
    statement["guarantees"][0]["model"] = "k-anonymity"
    (folder / "statement.json").write_text(json.dumps(statement))
    findings = {finding.name: finding for finding in check_release(folder)}
    assert not findings["statement"].holds
    assert findings["statement"].detail == "is not there, damaged, or promises what was not counted"
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["recipe"]["aggregate"]["form"] = "representative"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    findings = {finding.name: finding for finding in check_release(folder)}
    assert not findings["k-anonymity (k = 20) on age, pay, job, grade"].holds


def test_cells_below_k_are_never_drawn_from(people, monkeypatch):
    from microagg.partition.mdav import MDAV

    def one_record_each(self, X, y=None):  # `fit` itself would refuse
        self.labels_, self.n_cells_, self.sse_ = np.arange(len(X)), len(X), 0.0
        return self

    monkeypatch.setattr(MDAV, "fit", one_record_each)
    with pytest.raises(GuaranteeError, match=r"at least k = 20 records: the smallest cell of .* has 1"):
        microagg.release(people, recipe())


def test_missing_values_strata_and_weights_are_kept(people):
    age = people["age"].to_pylist()
    age[:30] = [None] * 30
    table = people.set_column(0, "age", pa.array(age)).append_column("w", pa.array(np.linspace(1, 2, 400)))
    made = microagg.release(
        table,
        recipe(
            attributes=ATTRIBUTES | {"w": "non_confidential"},
            sampling_weight="w",
            missing={"policy": "own_cell"},
            strata={"by": ["job"], "small": "merge_small"},
            output={"order": "kept"},
        ).changed({"missing.small": "merge_small", "k": 8}),
    )
    assert made.table["job"].equals(people["job"])  # cells do not cross strata, so draws cannot
    assert made.table["age"].null_count >= 30


def test_guided_cells_can_be_sampled_too(people):
    ill = {"role": "confidential", "kind": "nominal"}
    made = microagg.release(people, recipe(attributes=ATTRIBUTES | {"ill": ill}, space={"dependence": {"lambda": 0.3}}))
    assert "diversity of ill within cells" in " ".join(str(made.statement).split())


def people_with_benefits(people, *, n_off=60):
    """Most have none; those who have some are old."""
    age = people["age"].to_numpy()
    amounts = np.zeros(len(age), dtype=np.int64)
    oldest = np.argsort(age)[len(age) - n_off :]
    amounts[oldest] = np.random.default_rng(3).integers(1, 900, n_off)
    return people.append_column("benefit", pa.array(amounts))


BENEFIT = ATTRIBUTES | {"benefit": numeric(bounds=[0, 1000])}


@pytest.mark.parametrize("more", [{}, {"moments": 2}, {"content": "variances"}, {"paired_with": "ill"}])
def test_every_cell_keeps_how_many_have_what_many_share(people, more):
    people = people_with_benefits(people)
    attributes = BENEFIT | {"ill": {"role": "confidential", "kind": "nominal"}}
    asked = recipe(attributes=attributes, aggregate=SAMPLED["aggregate"] | more, output={"order": "kept"})
    made = microagg.release(people, asked, seed=1)
    before, after = (table["benefit"].to_numpy() for table in (people, made.table))
    assert after.dtype == before.dtype
    assert 0 <= after.min() <= after.max() <= 1000
    counts = [np.bincount(made.partition, weights=one == 0) for one in (before, after)]
    np.testing.assert_array_equal(*counts)
    assert not np.isin(after[after > 0], before).all()


def test_numbers_with_two_values_keep_them_and_strata_of_numbers_stay(people):
    """Cells with fewer than k of one value draw it too; cells of a stratum share their number, and draw it."""
    rng = np.random.default_rng(1)
    people = people.append_column("member", pa.array(np.where(rng.random(400) < 0.3, 2.5, -1.0)))
    people = people.append_column("region", pa.array(np.repeat([0, 10, 20], [150, 150, 100])))
    asked = recipe(
        attributes=ATTRIBUTES | {"member": numeric(), "region": numeric()},
        strata={"by": ["region"]},
        output={"order": "kept"},
    )
    made = microagg.release(people, asked).table
    assert set(made["member"].to_numpy()) == {-1.0, 2.5}
    assert (made["member"].to_numpy() > 0).sum() == (people["member"].to_numpy() > 0).sum()
    assert made["region"].equals(people["region"])


def test_a_spike_changes_the_draws_of_its_own_attribute_only(people, monkeypatch):
    people = people_with_benefits(people)
    asked = recipe(attributes=BENEFIT)
    kept = microagg.release(people, asked, seed=1).table
    monkeypatch.setattr(representatives, "find_spike", lambda *given: None)
    plain = microagg.release(people, asked, seed=1).table
    assert kept.drop_columns(["benefit"]).equals(plain.drop_columns(["benefit"]))
    assert (plain["benefit"].to_numpy() == 0).mean() < 0.8 < (kept["benefit"].to_numpy() == 0).mean()


def test_without_a_spike_numbers_are_what_the_moments_of_cells_gave(people):
    made = microagg.release(people, recipe(output={"order": "kept"}), seed=2)
    values = np.column_stack([people[name].to_numpy().astype(float) for name in ("age", "pay")])
    drawn = draw_numbers(cell_moments(values, Cells(made.partition)), made.partition, uniforms_from(2))
    np.testing.assert_array_equal(made.table["age"].to_numpy(), np.clip(np.rint(drawn[:, 0]), 18, 90))
    np.testing.assert_array_equal(made.table["pay"].to_numpy(), np.rint(drawn[:, 1] * 2) / 2)
    assert "value that many share" not in str(made.statement)


def test_the_statement_tells_of_spikes_and_fewer_than_k_off_one_are_drawn_as_before(people):
    made = microagg.release(people_with_benefits(people), recipe(attributes=BENEFIT))
    said = " ".join(str(made.statement).split())
    assert "for benefit, counts say how many records of the cell have the value that many share" in said
    assert "mean and variance of at least 20 records with other values, of this cell or of several" in said
    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "partition")
    assert stage["blocks"][0]["spiked"] == ["benefit"]
    few = microagg.release(people_with_benefits(people, n_off=19), recipe(attributes=BENEFIT))
    assert "value that many share" not in str(few.statement)


def tied_people(n=2000):
    """Within a plain cell, too, `ill` and `dose` depend on age."""
    rng = np.random.default_rng(8)
    age = rng.uniform(18, 90, n)
    return pa.table(
        {
            "age": age,
            "job": rng.choice(["clerk", "smith"], n),
            "ill": np.where(age + rng.normal(scale=5, size=n) > 54, "yes", "no"),
            "dose": age + rng.normal(scale=5, size=n),
        }
    )


TIED = {
    "age": numeric(bounds=[18, 90]),
    "job": nominal(),
    "ill": {"role": "confidential", "kind": "nominal"},
    "dose": {"role": "confidential", "kind": "numeric"},
}


def tied_recipe(*paired_with, **more):
    aggregate = {"form": "sampled", "paired_with": paired_with}
    return Recipe(**({"k": 400, "attributes": TIED, "aggregate": aggregate, "output": {"order": "kept"}} | more))


def test_paired_draws_keep_what_ties_them_to_labels_and_stay_the_same_draws():
    people = tied_people()
    chance, paired = (microagg.release(people, tied_recipe(*names), seed=3) for names in ((), ("ill", "dose")))
    np.testing.assert_array_equal(chance.partition, paired.partition)
    for name in ("ill", "dose"):
        assert paired.table[name].equals(people[name])
    for cell in range(chance.n_cells):
        drawn, dealt = (
            sorted(zip(*(one.table[name].to_numpy()[one.partition == cell] for name in ("age", "job")), strict=True))
            for one in (chance, paired)
        )
        assert drawn == dealt

    def tie(table):
        return np.corrcoef(table["age"].to_numpy(), table["dose"].to_numpy())[0, 1]

    # The standard error of a correlation near 0.9 over 2000 records is 0.004; the seed is fixed.
    assert tie(chance.table) < 0.93
    assert tie(paired.table) == pytest.approx(tie(people), abs=0.03)


def test_no_record_s_own_quasi_identifiers_decide_its_pair():
    """Two records of a cell with the same labels can change places in it, and nothing in the release changes."""
    people = tied_people(600)
    recipe = tied_recipe("ill", k=300)
    before = microagg.release(people, recipe, seed=5)
    ill, cell = np.array(people["ill"].to_pylist()), before.partition
    one, *_, two = np.flatnonzero((cell == cell[0]) & (ill == ill[0]))
    age = people["age"].to_numpy().copy()
    job = np.array(people["job"].to_pylist())
    age[[one, two]], job[[one, two]] = age[[two, one]], job[[two, one]]
    changed = people.set_column(0, "age", pa.array(age)).set_column(1, "job", pa.array(job))
    after = microagg.release(changed, recipe, seed=5)
    np.testing.assert_array_equal(after.partition, cell)
    np.testing.assert_allclose(after.table["age"].to_numpy(), before.table["age"].to_numpy(), rtol=1e-9)


def test_the_statement_tells_of_pairing():
    made = microagg.release(tied_people(), tied_recipe("ill"))
    said = " ".join(str(made.statement).split())
    assert "chance with the odds of models of ill, every leaf of which holds at least 400 records" in said
    assert "that ill cannot be predicted from the quasi-identifiers" in said
    assert "of column 'ill': label diversity of 5 cells" in said
    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "aggregate")
    (paired,) = stage["paired"]
    assert paired["paired_with"] == ["ill"]
    assert 0.5 <= paired["diversity"]["purity"] <= 1
    guided = microagg.release(
        tied_people(), tied_recipe("ill", space={"dependence": {"lambda": 0.1, "attributes": ["ill"]}})
    )
    assert str(guided.statement).count("label diversity") == 1
    plain = " ".join(str(microagg.release(tied_people(), tied_recipe()).statement).split())
    assert "stands beside is chance" in plain
    assert "odds of" not in plain


def test_a_missing_label_is_paired_with_any_draw_or_refused():
    people = tied_people()
    ill = people["ill"].to_pylist()
    ill[:50] = [None] * 50
    people = people.set_column(2, "ill", pa.array(ill))
    with pytest.raises(TableError, match=r"attributes that draws are paired with have missing values: 'ill' \(50\)"):
        microagg.release(people, tied_recipe("ill"))
    for policy, left in (("own_cell", 2000), ("impute", 2000), ("suppress", 1950)):
        made = microagg.release(people, tied_recipe("ill", missing={"policy": policy}))
        assert made.table.num_rows == left
        assert made.table["ill"].null_count == left - 1950


def test_a_private_release_is_never_paired():
    """The model of the labels would look at the records without a budget."""
    private = {"method": "dp_individual_ranking", "privacy": {"epsilon": 1.0, "form": "aligned"}}
    attributes = TIED | {"job": nominal(categories=["clerk", "smith"])}
    with pytest.raises(RecipeError, match="aggregate: dp_individual_ranking knows by itself what a cell publishes"):
        tied_recipe("ill", attributes=attributes, output={}, **private)


def test_pairs_are_dealt_in_every_block_of_its_own():
    made = microagg.release(
        tied_people(), tied_recipe("ill", blocks={"form": "given", "attributes": [["age"], ["job"]]})
    )
    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "aggregate")
    assert len(stage["paired"]) == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"aggregate": {"paired_with": "ill"}}, "paired_with is for form = 'sampled'"),
        ({"aggregate": SAMPLED["aggregate"] | {"paired_with": "il"}}, "aggregate.paired_with names 'il'"),
        ({"aggregate": SAMPLED["aggregate"] | {"paired_with": "ill"}}, "which has no kind"),
        ({"aggregate": SAMPLED["aggregate"] | {"paired_with": "age"}}, "it must be published as it is"),
        ({"aggregate": {"form": "drawn"}}, "aggregate.form: must be one of 'representative', 'sampled'"),
        ({"aggregate": {"form": "sampled", "numeric": "median"}}, "numeric is for form = 'representative'"),
        ({"aggregate": {"form": "sampled", "nominal": "mode"}}, "nominal is for form = 'representative'"),
        (
            {"attributes": {"age": numeric(representative="median")}},
            "attributes.age.representative is for aggregate.form = 'representative'",
        ),
        ({"method": "mic1d", "attributes": {"age": numeric()}}, "mic1d has no cells of records to sample from"),
    ],
)
def test_what_has_no_meaning_for_sampled_records_is_refused(more, said):
    with pytest.raises(RecipeError) as caught:
        recipe(**({"attributes": ATTRIBUTES} | more))
    assert said in str(caught.value)


def test_a_sampled_recipe_round_trips():
    assert Recipe.loads(recipe().dumps()) == recipe()
    assert Recipe(**recipe().as_dict()) == recipe()
    paired = tied_recipe("ill")
    assert paired.aggregate.paired_with == ("ill",)
    assert Recipe.loads(paired.dumps()) == paired
    assert Recipe(**paired.as_dict()) == paired
    with pytest.raises(RecipeError, match=r"aggregate\.paired_with: an attribute is named twice"):
        tied_recipe("ill", "ill")


def test_numbers_that_were_filled_in_make_no_spike_and_no_amounts():
    """A weighted median may be one record's number: many share it only since it stands in for what they lack."""
    numbers = [731.25, *(float(100 + place) for place in range(30)), *[None] * 30]
    table = pa.table({"x": numbers, "z": np.arange(61) % 9, "w": [1e6, *[1.0] * 60]})
    declared = {"x": numeric(), "z": numeric(), "w": "non_confidential"}
    asked = {"form": "sampled"}
    recipe = Recipe(k=10, attributes=declared, aggregate=asked, missing={"policy": "impute"}, sampling_weight="w")
    made = microagg.release(table, recipe, seed=1)
    said = " ".join(str(made.statement).split())
    assert "value that many share" not in said
    assert "hiding of the median or most frequent category that stands in for missing values" in said

    # Thirty zeros are a spike. Of those who have an amount five cells of eleven can speak; the thirty that lack
    # one, alone in three cells, speak nowhere, and use what another cell says.
    assert find_spike(np.array([9.0] * 20 + [1.0, 2.0]), 2, None, np.arange(22) < 19) is None
    values = np.array([0.0] * 30 + list(range(1, 62)) + [31.0] * 30)
    filled = np.arange(len(values)) >= 91
    cells = Cells(np.repeat(np.arange(11), 11))
    found = amounts_off(values, cells, 10, None, filled)
    assert found.sizes.tolist() == [11] * 5
    assert len(amounts_off(values, cells, 10).sizes) == 8
    assert (found.pools[np.unique(cells.labels[values > 0])] >= 0).all()  # also of cells that were filled in alone
