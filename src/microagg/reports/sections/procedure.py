"""What was done: the stages that were really run, the choices, the versions and the files."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from microagg._version import __version__
from microagg.reports.section import Section
from microagg.reports.source import ReportSource

__all__ = ["PROCEDURE"]

_SHOWN = 12


def _procedure(source: ReportSource) -> dict[str, Any]:
    """Method, stages, parameters, versions, hashes."""
    recipe, manifest = source.recipe, source.manifest
    method = recipe.entry
    settings = recipe.as_dict()
    if method.is_private:  # most of the other defaults mean nothing to it
        settings = recipe.model_dump(mode="json", exclude_none=True, exclude_defaults=True, by_alias=True)
    elsewhere = ("about", "attributes", "method")
    chosen = {key: value for key, value in settings.items() if key not in elsewhere and value != {}}
    if manifest is None:
        return {
            "by": "another tool, or only its table is at hand",
            "method": None,
            "stages": [],
            "choices": _rows(chosen),
            "versions": {"microagg (this report)": __version__, "python": platform.python_version()},
            "input": {},
            "files": dict(source.files),
        }
    return {
        "by": f"microagg {manifest['microagg']}",
        "method": {"name": method.name, "title": method.title, "summary": method.summary, "source": method.reference},
        "stages": [
            {
                "stage": stage["stage"],
                "facts": _rows({key: value for key, value in stage.items() if key != "stage"}),
            }
            for stage in manifest["stages"]
        ],
        "choices": _rows(chosen),
        "versions": {"microagg": manifest["microagg"], **manifest["versions"]},
        "input": {
            "records": manifest["input"]["n_records"],
            "columns": manifest["input"]["n_columns"],
            **({"salted SHA-256": one} if (one := manifest["input"].get("sha256_salted")) else {}),
        },
        "files": dict(source.files),
    }


def _rows(facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """Facts as lines of text; long lists are cut, the manifest has them whole."""
    return [{"name": key.replace("_", " "), "text": _text(value)} for key, value in facts.items()]


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        texts = [
            f"{key} ({_text(one)})" if isinstance(one, Mapping) else f"{key}: {_text(one)}"
            for key, one in list(value.items())[:_SHOWN]
        ]
        return ", ".join(texts) + (f" and {len(value) - _SHOWN} more" if len(value) > _SHOWN else "") or "none"
    if isinstance(value, list | tuple):
        between = "; " if any(isinstance(one, Mapping) for one in value) else ", "
        texts = [_text(one) for one in value[:_SHOWN]]
        return between.join(texts) + (f" and {len(value) - _SHOWN} more" if len(value) > _SHOWN else "") or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else repr(value) if value == "" else str(value)


PROCEDURE = Section("done", _procedure, of_release_alone=True, title="What was done")
