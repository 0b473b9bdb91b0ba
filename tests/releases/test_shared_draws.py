"""Releases drawn from what many records share: what is published, promised, stated and refused."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import microagg
from declarations import nominal, numeric, ordinal
from microagg import GuaranteeError, Recipe
from microagg.aggregate.shared_values.model import LabelModel
from microagg.errors import RecipeError
from microagg.releases.check.check import check_release
from microagg.releases.drawing.shared import _equal_shares

SHARED = {"form": "sampled", "paired_with": "ill", "draws": "shared"}
ILL = {"role": "confidential", "kind": "nominal"}
ATTRIBUTES = {
    "age": numeric(bounds=[18, 90]),
    "benefit": numeric(bounds=[0, 1000]),
    "job": nominal(),
    "grade": ordinal(categories=["low", "mid", "high", "top"]),
    "ill": ILL,
}


@pytest.fixture(scope="module")
def people():
    """Within plain cells, too, `ill` depends on age and benefit; two jobs and one grade are rare."""
    rng = np.random.default_rng(6)
    n = 900
    age = rng.integers(18, 90, n)
    benefit = np.where(rng.random(n) < 0.7, 0, rng.integers(1, 900, n))
    job = rng.choice(["clerk", "farmer", "smith"], n)
    job[:5] = ["diver", "diver", "diver", "envoy", "envoy"]
    grade = rng.choice(["low", "mid", "high"], n)
    grade[5:8] = "top"
    ill = np.where(age + benefit / 20 + rng.normal(scale=8, size=n) > 60, "yes", "no")
    return pa.table({"age": age, "benefit": benefit, "job": job, "grade": grade, "ill": ill})


def recipe(**more):
    aggregate = SHARED | more.pop("aggregate", {})
    return Recipe(**({"k": 30, "attributes": ATTRIBUTES, "aggregate": aggregate, "output": {"order": "kept"}} | more))


@pytest.fixture(scope="module")
def made(people):
    return microagg.release(people, recipe(), seed=1)


def counts_of(column):
    return dict(zip(*np.unique(column.to_numpy(zero_copy_only=False), return_counts=True), strict=True))


def intervals_by_hand(values, k, share):
    """Numbers that may be published, rounded."""
    return {round(number) for number in places_by_hand(values, k, share)}


def places_by_hand(values, k, share):
    """Numbers that may be published, by a plain walk over the sorted numbers."""
    counts = dict(zip(*np.unique(values, return_counts=True), strict=True))
    pieces, gap = [], []

    def close():
        nonlocal gap
        if len(gap) >= k:
            cut = [[]]
            for number in sorted(set(gap)):
                if len(cut[-1]) >= k:
                    cut.append([])
                cut[-1] += [number] * gap.count(number)
            if len(cut[-1]) < k:
                last = cut.pop()
                cut[-1] += last
            pieces.extend((np.mean(one), np.sqrt(3) * np.std(one)) for one in cut)
        gap = []

    for number, count in counts.items():
        if count >= share:
            close()
            pieces.append((number, 0.0))
        else:
            gap += [number] * count
    close()
    allowed = set()
    for place, (centre, half) in enumerate(pieces):
        room = [abs(pieces[other][0] - centre) for other in (place - 1, place + 1) if 0 <= other < len(pieces)]
        allowed |= {centre + part * min([half, *room]) for part in np.arange(-10, 11) / 10.5}
    return allowed


@pytest.mark.parametrize("share", [30, 5])
def test_every_published_number_is_shared_or_of_an_interval_of_k(people, share):
    made = microagg.release(people, recipe(aggregate={} if share == 30 else {"share": share}))
    for name in ("age", "benefit"):
        allowed = intervals_by_hand(people[name].to_numpy(), 30, share)
        published = set(made.table[name].to_numpy().tolist())
        assert published <= allowed
        assert len(published) > 8


def test_every_cell_keeps_its_values_that_many_share_and_its_categories(people, made):
    before, after = people["benefit"].to_numpy(), made.table["benefit"].to_numpy()
    np.testing.assert_array_equal(*(np.bincount(made.partition, weights=one == 0) for one in (before, after)))
    smith = [np.array(table["job"].to_pylist()) == "smith" for table in (people, made.table)]
    changed = np.bincount(made.partition, weights=smith[1]) - np.bincount(made.partition, weights=smith[0])
    assert (changed >= 0).all()
    assert changed.sum() <= 5  # rare jobs are told as frequent ones of their cell
    assert made.table.schema.equals(people.schema)
    assert made.table["ill"].equals(people["ill"])


def test_rare_categories_are_not_published_unless_asked_for(people, made):
    assert set(counts_of(made.table["job"])) == {"clerk", "farmer", "smith"}
    assert set(counts_of(made.table["grade"])) == {"low", "mid", "high"}
    said = " ".join(str(made.statement).split())
    assert "fewer than 10 records have were published as more frequent ones: fewer than 30 of column 'job'" in said
    assert "envoy" not in said
    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "aggregate")
    assert stage["paired"][0]["pooled"] == {"job": None, "grade": None}  # five and three tell too much of each
    kept = microagg.release(people, recipe(aggregate={"rare": 3}), seed=1)
    assert counts_of(kept.table["job"])["diver"] == 3
    assert "envoy" not in counts_of(kept.table["job"])
    every = microagg.release(people, recipe(aggregate={"rare": 1}), seed=1)
    assert counts_of(every.table["job"]) == counts_of(people["job"])
    names = pa.array([f"name {place}" for place in range(900)])
    with pytest.raises(GuaranteeError, match=r"column 'name' has no category that at least 10 .* rare = 1"):
        microagg.release(people.append_column("name", names), recipe(attributes=ATTRIBUTES | {"name": nominal()}))


def test_labels_follow_age_within_cells_and_more_closely_than_by_chance(people):
    table = people.append_column("dose", pa.array(people["age"].to_numpy() * 1.0))
    attributes = ATTRIBUTES | {"dose": {"role": "confidential", "kind": "numeric"}}
    asked = recipe(k=100, attributes=attributes, aggregate={"paired_with": ["ill", "dose"]})
    made = microagg.release(table, asked, seed=2)
    age, ill = made.table["age"].to_numpy(), np.array(made.table["ill"].to_pylist()) == "yes"
    before = np.corrcoef(people["age"].to_numpy(), np.array(people["ill"].to_pylist()) == "yes")[0, 1]
    assert np.corrcoef(age, ill)[0, 1] == pytest.approx(before, abs=0.06)  # chance alone: 0.03 each; the seed is fixed
    assert np.corrcoef(age, made.table["dose"].to_numpy())[0, 1] > 0.97


def test_no_record_s_own_quasi_identifiers_decide_its_pair(people, made):
    """Two records of a cell with the same label change places in it, and nothing in the release changes."""
    cell, ill = made.partition, np.array(people["ill"].to_pylist())
    jobs = np.array(people["job"].to_pylist())
    rows = np.flatnonzero((cell == cell[100]) & (ill == ill[100]))
    one, two = rows[0], rows[-1]
    order = np.arange(900)
    order[[one, two]] = order[[two, one]]
    changed = people.take(order)
    assert (people["age"][int(one)], jobs[one]) != (people["age"][int(two)], jobs[two])
    again = microagg.release(changed, recipe(), seed=1)
    np.testing.assert_array_equal(again.partition, cell)
    assert again.table.equals(made.table)


def test_missing_values_strata_weights_and_blocks_are_kept(people):
    age = people["age"].to_pylist()
    age[40:110] = [None] * 70
    table = people.set_column(0, "age", pa.array(age)).append_column("w", pa.array(np.linspace(1, 2, 900)))
    table = table.append_column("region", pa.array(np.repeat([0, 10, 20], 300)))
    made = microagg.release(
        table,
        recipe(
            k=20,
            attributes=ATTRIBUTES | {"w": "non_confidential", "region": numeric()},
            sampling_weight="w",
            missing={"policy": "own_cell", "small": "merge_small"},
            strata={"by": ["region"]},
        ),
    )
    assert made.table["age"].null_count >= 70
    assert made.table["region"].equals(table["region"])
    assert "was kept, by weight and up to rounding" in " ".join(str(made.statement).split())
    blocks = {"form": "given", "attributes": [["age", "job"], ["benefit", "grade"]]}
    several = microagg.release(people, recipe(blocks=blocks))
    (stage,) = (stage for stage in several.manifest.stages if stage["stage"] == "aggregate")
    assert len(stage["paired"]) == 2
    assert str(several.statement).count("of the released records equal") == 2


def test_a_record_with_nearly_all_the_weight_does_not_make_a_number():
    """Weights say how often a number is published, and not what it is: intervals are made of k records alike."""
    rng = np.random.default_rng(4)
    pay, weight = np.exp(rng.normal(size=300)), np.ones(300)
    top = int(np.argmax(pay))
    weight[top] = 1e9
    table = pa.table({"pay": pay, "w": weight, "ill": ["no"] * 300})
    attributes = {"pay": numeric(), "w": "non_confidential", "ill": ILL}
    made = microagg.release(table, recipe(attributes=attributes, sampling_weight="w"), seed=1)
    allowed = {round(float(number), 9) for number in places_by_hand(pay, 30, 30)}
    published = made.table["pay"].to_numpy()
    assert set(np.round(published, 9)) <= allowed
    assert np.abs(published / pay[top] - 1).min() > 0.01


def test_imputed_values_count_for_nobody():
    """The median is one record's number, and a category that nine have is the most frequent: neither becomes shared."""
    rng = np.random.default_rng(3)
    pay, towns = rng.normal(size=301), np.repeat([f"town {place}" for place in range(43)], 9)[:301].tolist()
    towns[:86] = ["port"] * 43 + [None] * 43
    pay[100:200] = np.nan
    assert (pay == np.nanmedian(pay)).sum() == 1
    table = pa.table({"pay": pa.array(pay, from_pandas=True), "town": towns, "ill": ["no"] * 301})
    attributes = {"pay": numeric(), "town": nominal(), "ill": ILL}
    asked = recipe(attributes=attributes, missing={"policy": "impute"})
    made = microagg.release(table, asked, seed=1)
    published = made.table["pay"].to_numpy()
    assert not np.isin(published, pay).any()
    allowed = [round(float(number), 9) for number in places_by_hand(pay[~np.isnan(pay)], 30, 30)]
    assert set(np.round(published, 9)) <= {*allowed}
    assert set(made.table["town"].to_pylist()) == {"port"}
    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "aggregate")
    assert stage["paired"][0]["equal"]["released"] == 0.0
    few = table.set_column(1, "town", pa.array(["fort"] * 9 + [None] * 292))
    with pytest.raises(GuaranteeError, match="column 'town' has no category that at least 10 records have"):
        microagg.release(few, asked)
    few = table.set_column(0, "pay", pa.array([*range(29)] + [None] * 272))
    with pytest.raises(GuaranteeError, match="column 'pay' has numbers of fewer than k = 30 records"):
        microagg.release(few, asked)


def test_small_strata_may_publish_others_and_the_statement_says_so(tmp_path):
    """Strata of few records stand between those of many: what they have is not published."""
    for kind, names in ((numeric(), [0, 5, 10, 15]), (nominal(), ["north", "east", "south", "west"])):
        region = np.repeat(names, [150, 9, 150, 21])
        table = pa.table({"region": region, "age": np.arange(330) % 7, "ill": ["no"] * 330})
        asked = recipe(
            attributes={"region": kind, "age": numeric(), "ill": ILL},
            aggregate={"draws": None},
            strata={"by": ["region"], "small": "merge_small"},
            k=30,
        )
        made = microagg.release(table, asked, seed=1)
        assert names[1] not in made.table["region"].to_pylist()
        said = " ".join(str(made.statement).split())
        assert "their cells publish what many records share, which need not be one of their strata" in said
    assert all(finding.holds for finding in check_release(made.save(tmp_path / "out")))
    moments = microagg.release(table, asked.changed({"aggregate.draws": "moments"}), seed=1)
    assert "their cells draw among their strata" in " ".join(str(moments.statement).split())


def test_labels_that_are_missing_have_no_say(people):
    ill = people["ill"].to_pylist()
    ill[:60] = [None] * 60
    made = microagg.release(
        people.set_column(4, "ill", pa.array(ill)), recipe(missing={"policy": "own_cell"}, space={})
    )
    assert made.table["ill"].null_count == 60


def test_dates_and_one_label_are_drawn_too(people):
    days = np.datetime64("1990-01-01") + people["age"].to_numpy()
    table = people.append_column("day", pa.array(days)).set_column(4, "ill", pa.array(["no"] * 900))
    made = microagg.release(table, recipe(attributes=ATTRIBUTES | {"day": numeric()}))
    assert made.table["day"].type == table["day"].type
    drawn = made.table["day"].to_numpy()
    assert days.min() <= drawn.min() <= drawn.max() <= days.max()


def test_places_that_no_tree_tells_apart_need_not_be_tried(people, made, monkeypatch):
    tried = [0, 0]
    expected = LabelModel.expected

    def counted(self, points):
        tried[0] += len(points)
        return expected(self, points)

    monkeypatch.setattr(LabelModel, "expected", counted)
    assert microagg.release(people, recipe(), seed=1).table.equals(made.table)
    monkeypatch.setattr(LabelModel, "cuts", lambda self, column: None)
    tried = [0, tried[0]]
    assert microagg.release(people, recipe(), seed=1).table.equals(made.table)
    assert 2 * tried[1] < tried[0]  # with every place tried, time would be that of 21 places times all trees


def test_how_often_draws_equal_records_is_counted(people, made):
    names = ("age", "benefit", "job", "grade")
    before, after = (
        list(zip(*(table[name].to_pylist() for name in names), strict=True)) for table in (people, made.table)
    )
    others = [before[:place] + before[place + 1 :] for place in range(900)]
    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "aggregate")
    assert stage["paired"][0]["equal"] == {
        "released": np.mean([one in before for one in after]),
        "released_unique": np.mean([before.count(one) == 1 for one in after]),
        "untouched": np.mean([one in rest for one, rest in zip(before, others, strict=True)]),
        "untouched_unique": np.mean([rest.count(one) == 1 for one, rest in zip(before, others, strict=True)]),
    }
    alone = _equal_shares([np.array([1.0, 1.0, np.nan, 2.0])], [np.array([np.nan, 1.0, 3.0, 2.0])])
    assert alone == {"released": 0.75, "released_unique": 0.5, "untouched": 0.5, "untouched_unique": 0.5}


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_draws_equal_records_where_the_file_shows_them_equal(kind):
    """Drawn numbers are compared in the column's own type, which rounds them."""
    ages = (np.arange(300) % 97 * 1.1).astype(kind)
    table = pa.table({"age": ages, "ill": ["no"] * 300})
    made = microagg.release(table, recipe(attributes={"age": numeric(), "ill": ILL}), seed=1)
    (stage,) = (stage for stage in made.manifest.stages if stage["stage"] == "aggregate")
    equal = np.isin(made.table["age"].to_numpy(zero_copy_only=False), ages).mean()
    assert stage["paired"][0]["equal"]["released"] == pytest.approx(equal)
    assert equal > 0


def test_one_record_s_minus_zero_is_not_the_category_of_all():
    codes = np.where(np.arange(300) % 3 == 0, 1.0, 0.0)
    codes[[1, 299]] = -0.0
    table = pa.table({"code": codes, "ill": ["no"] * 300})
    made = microagg.release(table, recipe(attributes={"code": nominal(), "ill": ILL}), seed=1)
    assert not np.signbit(made.table["code"].to_numpy()).any()


def test_the_statement_says_what_a_published_number_is_and_what_a_share_gives_up(people, made):
    (guarantee,) = made.statement.guarantees
    assert guarantee.title == "drawn from cells of at least k (k = 30)"
    said = " ".join(str(made.statement).split())
    for words in (
        "each published number is one that at least 30 records of the table share, or is made of mean and spread of an "
        "interval of at least 30 records",
        "each category is one that at least 10 have",
        "how many records of a cell have a value, an interval or a category was kept, and that may be one",
        "standard errors: ill follow the models more closely than chance would",
        "% of the released records equal one of the table on all quasi-identifiers",
    ):
        assert words in said
    assert "publishes as they are" not in said
    relaxed = microagg.release(people, recipe(aggregate={"share": 5})).statement
    assert relaxed.guarantees[0].title == "drawn from cells of at least k (k = 30, share = 5)"
    said = " ".join(str(relaxed).split())
    assert (
        "that numbers come from at least k = 30 records: those that 5 to 29 share are published as they are, and"
        in said
    )
    assert "whoever knows 4 of these records learns that another has the number" in said


def test_the_report_says_what_records_were_drawn_from(tmp_path):
    table = pa.table({"age": np.arange(60) % 7, "ill": ["no"] * 60})
    asked = recipe(k=10, attributes={"age": numeric(), "ill": ILL}, aggregate={"share": 5})
    folder = microagg.release(table, asked).save(tmp_path / "out", report=True)
    said = " ".join((folder / "report.html").read_text().split())
    sources = "drawn from statistics of at least 10 records, or numbers that at least 5 share"
    assert f"The protected column was {sources}. This is not k-anonymity." in said
    assert "values were drawn from numbers and intervals that many records share" in said
    assert "drawn from what many share" in said
    assert "cell&#39;s statistics" not in said
    assert "statistics of cells" not in said


def test_a_saved_release_is_checked_and_what_cannot_be_is_found(people, tmp_path):
    folder = microagg.release(people, recipe()).save(tmp_path / "out")
    assert all(finding.holds for finding in check_release(folder))
    text = (folder / "manifest.json").read_text()
    manifest = json.loads(text)
    (stage,) = (stage for stage in manifest["stages"] if stage["stage"] == "aggregate")
    stage["paired"][0]["equal"]["released_unique"] = 1.5
    (folder / "manifest.json").write_text(json.dumps(manifest))
    findings = {finding.name: finding for finding in check_release(folder)}
    assert not findings["manifest"].holds
    assert "paired draws" in findings["manifest"].detail
    for count in (5, 301):
        manifest = json.loads(text)
        (stage,) = (stage for stage in manifest["stages"] if stage["stage"] == "aggregate")
        stage["paired"][0]["pooled"]["job"] = count
        (folder / "manifest.json").write_text(json.dumps(manifest))
        assert not {finding.name: finding for finding in check_release(folder)}["manifest"].holds
    manifest = json.loads(text)
    manifest["recipe"]["aggregate"]["share"] = 29
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert not {finding.name: finding for finding in check_release(folder)}["statement"].holds


@pytest.mark.parametrize(
    ("aggregate", "said"),
    [
        ({"form": "sampled", "draws": "shared"}, "needs attributes that the draws are to fit"),
        ({"draws": "shared"}, "draws is for form = 'sampled'"),
        (SHARED | {"moments": 2}, "moments is for draws = 'moments'"),
        (SHARED | {"content": "variances"}, "content is for draws = 'moments'"),
        (SHARED | {"draws": "moments", "share": 10}, "share is for draws = 'shared'"),
        ({"form": "sampled", "rare": 5}, "rare is for draws = 'shared', which needs paired_with"),
        ({"form": "sampled", "paired_with": "ill", "share": 9, "moments": 2}, "share is for draws = 'shared', and"),
        (SHARED | {"share": 31}, "aggregate.share = 31 asks for more than k = 30 records"),
        (SHARED | {"share": 1}, "aggregate.share"),
        (SHARED | {"draws": "values"}, "aggregate.draws: must be one of 'moments', 'shared'"),
    ],
)
def test_what_has_no_meaning_for_draws_of_shared_values_is_refused(aggregate, said):
    with pytest.raises(RecipeError) as caught:
        Recipe(k=30, attributes=ATTRIBUTES, aggregate=aggregate)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("aggregate", "k", "chosen"),
    [
        ({}, 90, "shared"),
        ({}, 91, "moments"),
        ({"share": 10}, 91, "shared"),
        ({"rare": 5}, 91, "shared"),
        ({"moments": 2}, 30, "moments"),
        ({"content": "variances"}, 30, "moments"),
        ({"draws": "moments"}, 30, "moments"),
        ({"draws": "shared"}, 91, "shared"),
        ({"paired_with": []}, 30, None),
    ],
)
def test_what_paired_draws_are_drawn_from_by_default(people, tmp_path, aggregate, k, chosen):
    """The table has 900 records: with k = 91 it has fewer than 10 k of them."""
    asked = recipe(k=k, aggregate={"draws": None} | aggregate)
    made = microagg.release(people, asked, seed=1)
    assert made.recipe.aggregate.draws == chosen
    assert made.manifest.recipe["aggregate"].get("draws") == chosen
    said = " ".join(str(made.statement).split())
    default = "is the default of paired draws where a table has"
    for draws, size in (("shared", "at least"), ("moments", "fewer than")):
        words = f"[aggregate] draws = '{draws}', which {default} {size} 10 k = {10 * k} records"
        assert (words in said) is (draws == chosen)
    again = microagg.release(people, made.recipe, seed=1)
    assert again.table.equals(made.table)
    folder = made.save(tmp_path / "out")
    assert all(finding.holds for finding in check_release(folder))


def test_a_recipe_of_shared_draws_round_trips():
    asked = recipe(aggregate={"share": 10, "rare": 5})
    assert Recipe.loads(asked.dumps()) == asked
    assert Recipe(**asked.as_dict()) == asked
