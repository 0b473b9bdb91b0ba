"""anjana on Adult, and pycanon's judgement of any file: run by an environment of its own, without microagg.

``python benchmarks/diversity.py --peers PYTHON`` runs it, where PYTHON is the interpreter of an environment with
``pip install anjana`` (which brings pycanon along). It reads a table of the quasi-identifiers and the confidential
attribute, and writes two files, ``CLASSES.l`` and ``CLASSES.l and t``, with the class of every record, -1 for those
that were suppressed. By itself:

    PYTHON benchmarks/diversity_peers.py judge FILE CONFIDENTIAL
    PYTHON benchmarks/diversity_peers.py anjana FILE CONFIDENTIAL CLASSES K L T SUPPRESSED_PERCENT

anjana generalises the attribute with the most different values by one level until all classes have k records, or until
no more records than allowed are in smaller ones, which it suppresses; then on until l and t hold.
"""

from __future__ import annotations

import json
import sys
import time

try:
    import pandas as pd
    from anjana.anonymity import l_diversity, t_closeness
    from pycanon import anonymity
except ImportError as error:
    sys.exit(f"{error}: give --peers the interpreter of an environment with `pip install anjana`")

GROUPS = {
    "marital-status": {
        "married": ("Married-civ-spouse", "Married-AF-spouse"),
        "was married": ("Divorced", "Separated", "Widowed", "Married-spouse-absent"),
        "never": ("Never-married",),
    },
    "education": {
        "no diploma": ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"),
        "school": ("HS-grad", "Some-college"),
        "associate": ("Assoc-voc", "Assoc-acdm"),
        "degree": ("Bachelors", "Masters", "Prof-school", "Doctorate"),
    },
    "workclass": {
        "government": ("Local-gov", "State-gov", "Federal-gov"),
        "own business": ("Self-emp-not-inc", "Self-emp-inc"),
        "private": ("Private",),
    },
}
COUNTRIES = {
    "Asia": "Philippines India China Japan Vietnam Taiwan Iran Thailand Hong Cambodia Laos South",
    "Europe": "Germany England Italy Poland Portugal Greece France Ireland Yugoslavia Scotland Hungary "
    "Holand-Netherlands",
    "America": "Mexico Canada Puerto-Rico El-Salvador Cuba Jamaica Dominican-Republic Guatemala Columbia Haiti "
    "Nicaragua Peru Ecuador Trinadad&Tobago Honduras Outlying-US(Guam-USVI-etc)",
    "United States": "United-States",
}
GROUPS["native-country"] = {group: tuple(members.split()) for group, members in COUNTRIES.items()}
WIDTHS = (5, 10, 20, 40)  # years


def hierarchies(table: pd.DataFrame) -> dict[str, dict[int, list[str]]]:
    """Levels of every quasi-identifier, one entry for each of its different values; the last level is ``*``."""
    found = {}
    for name in table.columns[:-1]:
        values = sorted(set(table[name]))
        levels = [values]
        if name == "age":
            levels += [[f"[{width * (int(age) // width)}, +{width})" for age in values] for width in WIDTHS]
        elif name in GROUPS:
            group_of = {value: group for group, members in GROUPS[name].items() for value in members}
            levels.append([group_of.get(value, "other") for value in values])
        found[name] = dict(enumerate([*levels, ["*"] * len(values)]))
    return found


def judge(table: pd.DataFrame) -> dict[str, float]:
    attributes, confidential = list(table.columns[:-1]), list(table.columns[-1:])
    return {
        "k": int(anonymity.k_anonymity(table, attributes)),
        "l": int(anonymity.l_diversity(table, attributes, confidential)),
        "t": float(anonymity.t_closeness(table, attributes, confidential)),
    }


def anonymise(table: pd.DataFrame, path: str, k: int, l_wanted: int, t: float, percent: float) -> dict[str, object]:
    """Run anjana; what it found, and a file with the class of each record."""
    attributes, confidential = list(table.columns[:-1]), str(table.columns[-1])
    levels = hierarchies(table)
    given = table.assign(record=range(len(table)))
    start, found = time.perf_counter(), {}
    diverse = l_diversity(given, [], attributes, confidential, k, l_wanted, percent, levels)
    diverse = diverse.drop(columns="index", errors="ignore").reset_index(drop=True)
    for stage in ("l", "l and t"):
        if stage == "l and t":
            diverse = t_closeness(diverse, [], attributes, confidential, k, t, percent, levels)
        seconds = time.perf_counter() - start
        classes = pd.Series(-1, index=range(len(table)))
        classes[diverse["record"].to_numpy()] = diverse.groupby(attributes).ngroup().to_numpy()
        classes.to_csv(f"{path}.{stage}", index=False, header=["class"])
        found[stage] = {
            "seconds": round(seconds, 1),
            "suppressed": int((classes < 0).sum()),
            "classes": int(classes.max()) + 1,
            "values": {name: [int(table[name].nunique()), int(diverse[name].nunique())] for name in attributes},
            **judge(diverse[[*attributes, confidential]].reset_index(drop=True)),
        }
    return found


def main() -> None:
    what, path, confidential, *rest = sys.argv[1:]
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table = table[[*(name for name in table.columns if name != confidential), confidential]]
    if what == "judge":
        found = judge(table)
    else:
        out, k, l_wanted, t, percent = rest
        found = anonymise(table, out, int(k), int(l_wanted), float(t), float(percent))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
