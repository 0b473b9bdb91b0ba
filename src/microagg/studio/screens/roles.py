"""Roles: what each column means, one by one or several at once; what is asked, and what is known of its values."""

from __future__ import annotations

from shlex import quote
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.errors import InputError
from microagg.schema.attribute import Kind, Role
from microagg.schema.taxonomy import Taxonomy
from microagg.studio.commands import short_path
from microagg.studio.edits import edit, edit_columns, settle_columns
from microagg.studio.pages.render import page
from microagg.studio.project import Project
from microagg.studio.screens.form import back_to, fields_of, receive, studio_of, whole_number

__all__ = ["receive_taxonomy", "set_columns", "set_taxonomy", "show"]

_MOST = 4 << 20
_SHOWN = 200
_DEEPEST = 40
_SAID = ("bounds", "resolution", "weight", "categories", "taxonomy")


async def show(request: Request) -> Response:
    """All columns, and one of them with all that can be said of it."""
    studio = studio_of(request)
    project = studio.opened()
    columns = columns_of(project)
    place = whole_number(request.query_params.get("column", ""), "the number of a column")
    opened = columns[place] if place is not None and place < len(columns) else None
    outline = ""
    if opened is not None:
        tree = opened["declared"].get("taxonomy")
        outline = outline_of(tree) if isinstance(tree, dict) else ""
        if not outline and opened["categories"]:
            outline = "\n".join(["any", *(f"  {one}" for one in opened["categories"])])
    start = whole_number(request.query_params.get("from", ""), "where the list begins") or 0
    path = short_path(project.history.recipe_file)
    return page(
        request,
        "roles",
        columns=columns[start : start + _SHOWN],
        start=start,
        shown=_SHOWN,
        total=len(columns),
        opened=opened,
        outline=outline,
        roles=list(Role),
        kinds=list(Kind),
        tree=_drawn(opened["declared"].get("taxonomy")) if opened is not None else None,
        n_missing=sum(one["missing"] for one in columns if one["role"] == Role.QUASI_IDENTIFIER),
        counted={role: sum(one["role"] == role for one in columns) for role in Role},
        commands=(f"${{EDITOR:-vi}} {quote(path)}",),
    )


def columns_of(project: Project) -> list[dict[str, Any]]:
    """Every column of the recipe or the file: what is declared, and what the file shows."""
    known = {one["name"]: one for one in (project.facts or {}).get("columns", ())}
    declared = project.content.get("attributes", {})
    asked: dict[str, list[Any]] = {}
    for one in project.questions:
        if one.column is not None and one.topic.startswith("attributes"):
            asked.setdefault(one.column, []).append(one)
    found = []
    for place, name in enumerate(dict.fromkeys([*known, *declared])):
        own = declared.get(name, {})
        own = {"role": own} if isinstance(own, str) else own if isinstance(own, dict) else {}
        there = known.get(name)
        found.append(
            {
                "place": place,
                "name": name,
                "declared": {**dict.fromkeys(_SAID), **own},
                "role": own.get("role"),
                "kind": own.get("kind"),
                "questions": asked.get(name, []),
                "in_file": there is not None or project.facts is None,
                "in_recipe": name in declared,
                "type": there["type"] if there else "",
                "missing": there["missing"] if there else 0,
                "distinct": there["distinct"] if there else None,
                "categories": there["categories"] if there else [],
                "reasons": there["reasons"] if there else [],
                "label": there["label"] if there else "",
            }
        )
    return found


async def set_columns(request: Request) -> Response:
    """Set role, kind or both of the columns that are ticked, or settle what is asked about them."""
    fields = await fields_of(request)
    project = studio_of(request).opened()
    names = fields.all("column")
    if not names:
        raise InputError("tick the columns first that this is for")
    role, kind = fields.one("role") or None, fields.one("kind") or None
    if role not in (None, *Role) or kind not in (None, *Kind):
        raise InputError("choose a role or a kind of the list")
    if fields.one("do") == "settle":
        text = settle_columns(project.recipe_text, names, reading=True)
        project.history.add(text, f"questions of {len(names)} columns settled")
        return back_to(request)
    if role is None and kind is None:
        raise InputError("choose a role or a kind for the columns that are ticked")
    what = " and ".join(one for one in (role, kind) if one)
    whose = names[0] if len(names) == 1 else f"{len(names)} columns"
    project.history.add(edit_columns(project.recipe_text, names, role, kind), f"{whose}: {what}")
    return back_to(request)


async def set_taxonomy(request: Request) -> Response:
    """Take a tree of categories as somebody drew it: an indented outline."""
    fields = await fields_of(request)
    _keep_tree(studio_of(request).opened(), fields.one("name"), fields.one("outline"))
    return back_to(request)


async def receive_taxonomy(request: Request) -> Response:
    """Take a tree of categories from a file: an outline or nested JSON, as recipes do."""
    upload = await receive(request, "trees", "/roles", _MOST)
    project = studio_of(request).opened()
    place = whole_number(upload.fields.get("place", ""), "the number of a column")
    columns = columns_of(project)
    if place is None or place >= len(columns):
        raise InputError("there is no such column")
    request.state.back = f"/roles?column={place}#column"
    tree = Taxonomy.load(upload.path)
    _keep(project, columns[place]["name"], dict(tree.parents))
    return back_to(request)


def _keep_tree(project: Project, name: str, outline: str) -> None:
    tree = dict(Taxonomy.from_outline(outline).parents) if outline.strip() else None
    _keep(project, name, tree)


def _keep(project: Project, name: str, tree: dict[str, str] | None) -> None:
    if name not in project.content.get("attributes", {}):
        raise InputError("there is no such column")
    changes: dict[tuple[str, ...], Any] = {("attributes", name, "taxonomy"): tree}
    if tree is not None:
        changes[("attributes", name, "kind")] = Kind.NOMINAL.value
    words = f"{name}: tree of {len(tree)} categories" if tree is not None else f"{name}: no tree of categories"
    project.history.add(settle_columns(edit(project.recipe_text, changes), [name]), words)


def outline_of(parents: dict[str, str]) -> str:
    """A tree as an outline: one category a line, its children indented below it.

    Examples
    --------
    >>> print(outline_of({"nurse": "care", "care": "work", "clerk": "work"}))
    work
      care
        nurse
      clerk
    """
    lines: list[str] = []
    tree = _tree(parents)
    left = [] if tree is None else [(tree, 0)]
    while left:
        node, depth = left.pop()
        lines.append(f"{'  ' * depth}{node['name']}")
        left += [(child, depth + 1) for child in reversed(node["children"])]
    return "\n".join(lines)


def _drawn(parents: Any) -> dict[str, Any] | None:
    """The tree if it is not too deep for a drawing."""
    tree = _tree(parents)
    depth, level = 0, [] if tree is None else [tree]
    while level and depth <= _DEEPEST:
        depth, level = depth + 1, [child for node in level for child in node["children"]]
    return tree if depth <= _DEEPEST else None


def _tree(parents: Any) -> dict[str, Any] | None:
    """The tree as nested nodes; None if there is none, or it is none."""
    if not isinstance(parents, dict) or not parents:
        return None
    try:
        root = Taxonomy.from_parents(parents).root
    except ValueError:
        return None
    nodes: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys([root, *parents, *parents.values()]):
        nodes[name] = {"name": name, "children": []}
    for child, parent in parents.items():
        nodes[parent]["children"].append(nodes[child])
    return nodes[root]
