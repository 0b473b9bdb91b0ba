"""Every measure, method, guarantee and key of the recipe is explained, wholly and plainly, from one text."""

from __future__ import annotations

import html
import inspect
import re
import sys
from dataclasses import FrozenInstanceError, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest
from pydantic import BaseModel

import microagg
from microagg.errors import ParameterError
from microagg.evaluation.definition import Need
from microagg.evaluation.measures import OWN, all_measures, measure_named, register_measure, unregister_measure
from microagg.explanations.docstrings import parameters_of, summary_of
from microagg.explanations.explain import all_explanations, explain
from microagg.explanations.explanation import Explained, Explanation
from microagg.explanations.of_catalogues import needs_of
from microagg.methods.catalogue import METHODS, PAPERS, Method, register_method, unregister_method
from microagg.privacy import guarantee
from microagg.privacy.models import MODELS
from microagg.privacy.requirement import REQUIREMENTS
from microagg.recipe.recipe import Recipe
from microagg.releases.check.check import check_release
from microagg.space.guides import registered_guides
from microagg.tables.words import NO_WORDS

ROOT = Path(__file__).parents[2]
EVERY = all_explanations()
LONGEST_SENTENCE = 35
PARTS = {
    Explained.MEASURE: ("summary", "words", "formula", "range", "better", "misleads", "reference", "more"),
    Explained.METHOD: ("summary", "words", "formula", "range", "promises", "misleads", "reference", "more"),
    Explained.GUARANTEE: ("summary", "words", "formula", "range", "better", "misleads", "reference", "more"),
    Explained.KEY: ("summary", "words", "range", "default", "more"),
}


def names_of(kind: Explained) -> list[str]:
    return [one.name for one in EVERY if one.kind is kind]


def label(one: Explanation) -> str:
    return f"{one.kind} {one.name}"


def sentences_of(text: str) -> list[str]:
    return re.split(r"(?<=[.?!])\s", text)


def test_all_that_is_registered_is_explained():
    assert names_of(Explained.MEASURE) == [one.name for one in all_measures()]
    numbered = [one.name for paper in PAPERS.values() for one in paper.values()]
    assert names_of(Explained.METHOD) == [*METHODS, *numbered]
    assert names_of(Explained.GUARANTEE) == [*MODELS, *(one.model for one in REQUIREMENTS.values())]


def test_all_models_that_guarantees_name_are_explained():
    named = {getattr(guarantee, name) for name in ("K_ANONYMITY", "DRAWN", "EPSILON_DP", "EPSILON_IDP")}
    assert named == set(MODELS)


def test_all_keys_of_the_recipe_are_explained():
    names = set(names_of(Explained.KEY))
    whole = {**{name: field.annotation for name, field in Recipe.model_fields.items()}}
    for name, annotation in whole.items():
        tables = [kind for kind in get_args(annotation) or (annotation,) if _is_model(kind)]
        if not tables:
            assert name in names
            continue
        path = f"{name}.<column>" if "dict" in str(annotation) else name
        assert path in names
        for key, field in tables[0].model_fields.items():
            assert f"{path}.{field.alias or key}" in names
    for guide in registered_guides():
        for key, field in guide.model_fields.items():
            assert f"space.{guide.name}.{field.alias or key}" in names
    for method in METHODS.values():
        for option in method.options:
            assert f"partition.{option}" in names
        for option in method.private.options if method.is_private else ():
            assert f"privacy.{option}" in names


def _is_model(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, BaseModel)


@pytest.mark.parametrize("one", EVERY, ids=label)
def test_an_explanation_is_whole(one):
    lacking = [part for part in PARTS[one.kind] if not getattr(one, part).strip()]
    assert not lacking
    assert len(one.words.split()) >= 4


@pytest.mark.parametrize("one", EVERY, ids=label)
def test_texts_are_plain(one):
    for text in (one.words, one.misleads):
        assert not re.search(r"[`{}]|\*\w|:\w+:", text), "markup"
        assert not text or text[-1] in ".?!", text
        assert not text or text[0] == text[0].upper(), text
        for sentence in sentences_of(text):
            assert len(sentence.split()) <= LONGEST_SENTENCE, sentence


@pytest.mark.parametrize("one", [one for one in EVERY if one.kind is not Explained.KEY], ids=label)
def test_words_are_few(one):
    assert len(re.findall(r"[.?!](?=\s|$)", one.words)) in range(1, 5)


def test_every_measure_has_few_words_of_its_own_for_lists_and_axes():
    shorts = {one.name: one.explained.short for one in all_measures()}
    assert all(3 <= len(short) <= 80 and short[-1] not in ".?!" for short in shorts.values()), shorts
    alike = {short for short in shorts.values() if list(shorts.values()).count(short) > 1}
    assert not alike
    for one in EVERY:
        if one.kind is Explained.MEASURE:
            assert one.summary.lower() == f"{shorts[one.name].lower()}."


@pytest.mark.parametrize("more", sorted({one.more for one in EVERY}))
def test_the_page_to_read_on_is_there(more):
    page, _, place = more.partition("#")
    text = (ROOT / page).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    places = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    assert not place or place in places


@pytest.mark.parametrize("one", [one for one in EVERY if one.reference.startswith("docs/")], ids=label)
def test_a_page_that_is_a_reference_is_there(one):
    assert (ROOT / one.reference).exists()


def test_values_that_a_docstring_lists_are_those_of_the_key():
    for table in _tables(Recipe):
        described = parameters_of(table)
        for name, field in table.model_fields.items():
            kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if inspect.isclass(kind)]
            for choices in (kind for kind in kinds if issubclass(kind, StrEnum)):
                listed = re.findall(r'"([^"]*)"', described[field.alias or name].values)
                assert set(listed) <= {str(one) for one in choices}, (table, name)
                if choices.__name__ != "Representative":  # of which each kind of attribute has its own
                    assert listed == [str(one) for one in choices], (table, name)


def test_defaults_that_a_docstring_names_are_those_of_the_key():
    for table in _tables(Recipe):
        described = parameters_of(table)
        for name, field in table.model_fields.items():
            said = described[field.alias or name].default if (field.alias or name) in described else None
            if said and said != "none" and field.default is not None and not field.is_required():
                value = str(field.default).lower() if isinstance(field.default, bool) else field.default
                assert said.strip('"').replace("_", "") in (str(value), f"{value:g}" if said[0].isdigit() else ""), name


def _tables(model: type[BaseModel]) -> list[type[BaseModel]]:
    found = [model]
    for field in model.model_fields.values():
        for kind in get_args(field.annotation) or (field.annotation,):
            if _is_model(kind):
                found += _tables(kind)
    return found


def test_every_need_has_words():
    for one in all_measures():
        assert len(needs_of(one)) >= len(one.needs)
    assert {need for one in all_measures() for need in one.needs} <= set(Need)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("SSE_SST", [("SSE_SST", "measure")]),
        ("sse_sst", [("SSE_SST", "measure")]),
        ("mdav", [("mdav", "method")]),
        ("strict", [("dp_ranked_graph", "method")]),
        ("cross_moment:6", [("dp_mdav_covariance_variances_balanced", "method")]),
        ("K-Anonymity", [("k-anonymity", "guarantee")]),
        ("dp", [("epsilon-differential privacy", "guarantee")]),
        ("missing.policy", [("missing.policy", "recipe key")]),
        ("policy", [("missing.policy", "recipe key")]),
        ("[missing]", [("missing", "recipe key")]),
        ("attributes.bounds", [("attributes.<column>.bounds", "recipe key")]),
        ("attributes.age.bounds", [("attributes.<column>.bounds", "recipe key")]),
        ("attributes.age", [("attributes.<column>", "recipe key")]),
        ("k", [("k", "measure"), ("k-anonymity", "guarantee"), ("k", "recipe key")]),
        ("l", [("distinct l-diversity", "guarantee"), ("entropy l-diversity", "guarantee")]),
        ("t", [("t-closeness", "guarantee")]),
        ("epsilon", [("epsilon-differential privacy", "guarantee")]),
        ("distinct_l", [("distinct l-diversity", "guarantee"), ("protect.<column>.distinct_l", "recipe key")]),
        (
            "t_closeness",
            [
                ("t_closeness", "measure"),
                ("t-closeness", "guarantee"),
                ("protect.<column>.t_closeness", "recipe key"),
            ],
        ),
        (
            "l-diversity",
            [
                ("distinct l-diversity", "guarantee"),
                ("entropy l-diversity", "guarantee"),
                ("recursive (c, l)-diversity", "guarantee"),
            ],
        ),
    ],
)
def test_a_name_is_found(name, found):
    first = microagg.explain(name)
    assert [(one.name, str(one.kind)) for one in (first, *first.also)] == found
    for one in (first, *first.also):
        assert one.name in str(first)


def test_names_that_end_alike_are_pointed_to():
    assert "sweep.k" in explain("k").see_also
    assert "see also: sweep.k" in str(explain("k"))


@pytest.mark.parametrize("name", ["", " ", ".", "xyzzy", "attributes.", "-"])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ParameterError, match="nothing is called"):
        explain(name)


def test_near_names_are_offered():
    with pytest.raises(ParameterError, match="Did you mean 'SSE_SST'"):
        explain("ssesst")
    with pytest.raises(ParameterError, match=r"Did you mean .*'policy'"):
        explain("polcy")


def test_an_explanation_cannot_be_changed_and_is_a_dict():
    one = explain("t_closeness")
    with pytest.raises(FrozenInstanceError):
        one.words = "other"
    plain = one.as_dict()
    assert plain["better"] == "lower is better"
    assert [other["kind"] for other in plain["also"]] == ["guarantee", "recipe key"]
    assert isinstance(plain["needs"], list)


def test_what_is_registered_without_words_is_explained_by_what_it_has():
    register_measure(replace(measure_named("SSE"), name="mine", explained=NO_WORDS))
    register_method(Method("own", "Own", "Cells of my own.", "this test", "microagg.partition.mdav:MDAV"))
    try:
        assert explain("mine").words.startswith("It is the sum over records")
        assert explain("own").words == "Cells of my own."
        assert "mine" not in OWN
    finally:
        unregister_measure("mine")
        unregister_method("own")


def test_the_words_of_a_measure_come_with_its_value():
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0]})
    recipe = Recipe(k=2, attributes={"x": {"role": "quasi_identifier", "kind": "numeric"}})
    (one,) = microagg.evaluate(table, table, recipe, measures="KS")
    assert one.words == explain("KS").words
    assert "words" not in one.as_dict()


def test_a_report_shows_the_words_of_a_measure_on_its_name(tmp_path):
    table = pa.table({"x": [float(i) for i in range(40)]})
    recipe = Recipe(k=4, attributes={"x": {"role": "quasi_identifier", "kind": "numeric"}})
    folder = microagg.release(table, recipe).save(tmp_path / "out", report=True)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f'title="{html.escape(explain("singled_out").words)}">Records that look like no other <a' in page
    assert all(finding.holds for finding in check_release(folder))


def test_docstrings_of_a_class_made_from_others_are_read_together():
    class Base:
        """Base.

        Parameters
        ----------
        a, b : int >= 2, default 3
            Two ``numbers`` of *all*.
            Take care: they differ.
        """

    class Derived(Base):
        """``[derived]``: one table. More of it.

        Other Parameters
        ----------------
        c : {"x", "y"}, optional
            A choice.

        Notes
        -----
        d : not a parameter
        """

    found = parameters_of(Derived)
    assert list(found) == ["a", "b", "c"]
    assert found["b"].values == "a whole number of at least 2"
    assert (found["b"].default, found["b"].words, found["b"].care) == ("3", "Two numbers of all.", "They differ.")
    assert (found["c"].values, found["c"].default) == ('one of "x", "y"', "none")
    assert summary_of(Derived) == "One table. More of it."


def test_explaining_is_loaded_when_it_is_asked_for():
    assert "microagg.explanations.explain" in sys.modules
    assert microagg._HOME["explain"] == "microagg.explanations.explain"
