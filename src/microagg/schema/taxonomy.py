"""Taxonomies: trees of categories, and the semantic distance between two of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from microagg._typing import FloatArray
from microagg.errors import RecipeError

__all__ = ["Taxonomy", "category_text"]


def category_text(label: Any) -> str:
    """A category as text, so that a declared 3 matches a stored 3, 3.0 or "3": files differ in how they type a code.

    Examples
    --------
    >>> category_text(3.0), category_text(True), category_text("low")
    ('3', 'true', 'low')
    """
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, float | Decimal) and math.isfinite(label) and label == int(label):
        return str(int(label))
    return str(label)


@dataclass(frozen=True)
class Taxonomy:
    """A tree of categories, given as each node's parent.

    Read one with :meth:`load` (an indented outline in a ``.txt`` file, or nested objects in a ``.json`` file) or
    build one with :meth:`from_parents`. The categories of an attribute may be any nodes, usually the leaves.

    Parameters
    ----------
    parents : mapping of str to str
        Parent of every node but the root.

    Examples
    --------
    >>> tree = Taxonomy.from_outline("Work\\n  Office\\n    Clerk\\n    Manager\\n  Farm\\n    Farmer")
    >>> tree.root, tree.leaves
    ('Work', ('Clerk', 'Manager', 'Farmer'))
    >>> float(tree.distances(["Clerk", "Manager", "Farmer"])[0].round(3)[1])
    0.585
    """

    parents: Mapping[str, str]
    root: str = field(init=False)

    def __post_init__(self) -> None:
        roots = list(dict.fromkeys(parent for parent in self.parents.values() if parent not in self.parents))
        if len(roots) > 1:
            raise RecipeError(f"a taxonomy has one root; this one has {len(roots)}: {_quote_some(roots)}")
        self._refuse_cycles(roots)
        if not roots:
            raise RecipeError("a taxonomy has one root; this one has no categories")
        object.__setattr__(self, "root", roots[0])

    def _refuse_cycles(self, roots: Sequence[str]) -> None:
        reaches_root = set(roots)
        for node in self.parents:
            path: dict[str, None] = {}  # in order, and quick to look up: a tree may be a long chain
            while node not in reaches_root:
                if node in path:
                    cycle = list(path)
                    raise RecipeError(f"the taxonomy has a cycle through {_quote_some(cycle[cycle.index(node) :])}")
                path[node] = None
                node = self.parents[node]
            reaches_root.update(path)

    @classmethod
    def from_parents(cls, parents: Mapping[str, str]) -> Taxonomy:
        """Build a tree from ``{child: parent}``."""
        if not all(isinstance(parent, str) for parent in parents.values()):
            raise RecipeError('a taxonomy names each category\'s parent: { child = "parent", ... }')
        return cls({category_text(child): parent for child, parent in parents.items()})

    @classmethod
    def flat(cls, labels: Sequence[str], *, root: str = "any") -> Taxonomy:
        """A list of categories as a tree of depth one; its root gets a name that no category has."""
        while root in labels:
            root += "*"
        return cls(dict.fromkeys(labels, root))

    @classmethod
    def from_outline(cls, text: str) -> Taxonomy:
        """Build a tree from an outline: one node a line, children indented deeper than their parent."""
        parents: dict[str, str] = {}
        above: list[tuple[int, str]] = []
        seen: dict[str, int] = {}  # errors name lines, not what they say: the file may not be a taxonomy at all
        for number, line in enumerate(text.expandtabs(4).splitlines(), start=1):
            label = line.strip()
            if not label or label.startswith("#"):
                continue
            indent = len(line) - len(line.lstrip())
            while above and above[-1][0] >= indent:
                above.pop()
            if label in seen:
                raise RecipeError(f"line {number} of the taxonomy names the category of line {seen[label]} again")
            if not above and seen:
                raise RecipeError(f"line {number} of the taxonomy starts a second root; indent it")
            if above:
                parents[label] = above[-1][1]
            seen[label] = number
            above.append((indent, label))
        if not parents:
            raise RecipeError("the taxonomy has no categories: write the root, then its children, indented")
        return cls(parents)

    @classmethod
    def from_nested(cls, tree: Any) -> Taxonomy:
        """Build a tree from nested objects, ``{"root": {"branch": ["leaf", "leaf"]}}``."""
        parents: dict[str, str] = {}
        if not isinstance(tree, Mapping) or len(tree) != 1:
            raise RecipeError('a taxonomy file in JSON holds one root: {"root": {"branch": ["leaf", ...]}}')
        ((root, children),) = tree.items()
        above = [(root, children)]
        while above:
            parent, children = above.pop()
            if isinstance(children, Mapping):
                items = list(children.items())
            elif children is None or isinstance(children, list | tuple):
                items = [(child, None) for child in children or ()]
            else:
                raise RecipeError("below a category of a taxonomy stand others: an object, or a list of texts")
            for child, _ in items:
                if not isinstance(child, str):
                    raise RecipeError("categories of a taxonomy must be text")
                if child in parents or child == root:
                    raise RecipeError(f"the taxonomy names a category a second time, after {len(parents)} others")
                parents[child] = parent
            above += reversed([(child, below) for child, below in items if below is not None])
        return cls(parents)

    @classmethod
    def load(cls, path: str | Path) -> Taxonomy:
        """Read a taxonomy from an outline (``.txt``) or nested JSON (``.json``) file."""
        path = Path(path)
        try:
            if path.exists() and not path.is_file():
                raise RecipeError(f"the taxonomy {path.name!r} is not a file")
            text = path.read_text(encoding="utf-8")
            return cls.from_nested(json.loads(text)) if path.suffix.lower() == ".json" else cls.from_outline(text)
        except FileNotFoundError:
            raise RecipeError(f"no taxonomy file named {path.name!r}") from None
        except RecursionError:
            raise RecipeError(
                f"the taxonomy file {path.name!r} nests too deep; write it as an outline (.txt)"
            ) from None
        except RecipeError:
            raise
        except (ValueError, OSError):
            raise RecipeError(f"the taxonomy file {path.name!r} is not UTF-8 text of its format") from None

    @classmethod
    def load_beside(cls, folder: str | Path, name: str) -> Taxonomy:
        """Read a taxonomy that lies in `folder` or below it: a recipe of somebody else's must not name any file."""
        folder, relative = Path(folder).resolve(), Path(name)
        outside = bool(relative.is_absolute() or relative.drive or ".." in relative.parts)
        try:
            outside = outside or not (folder / relative).resolve().is_relative_to(folder)
        except (OSError, RuntimeError, ValueError):  # links in a circle, or no name of a file
            outside = True
        if outside:
            raise RecipeError(
                f"{relative.name!r} does not lie beside the recipe: put the file there, or in a folder below, and name "
                "it from there, without '..'"
            )
        return cls.load(folder / relative)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node, the root first."""
        return (self.root, *self.parents)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Nodes without children, in the order they were given."""
        inner = set(self.parents.values())
        return tuple(node for node in self.parents if node not in inner)

    def ancestors(self, label: str) -> tuple[str, ...]:
        """The path from `label` to the root, both included."""
        path = [label]
        while path[-1] != self.root:
            path.append(self.parents[path[-1]])
        return tuple(path)

    def absent(self, labels: Sequence[Any]) -> list[Any]:
        """Those of `labels` that are not nodes of the tree."""
        nodes = set(self.nodes)
        return [label for label in labels if category_text(label) not in nodes]

    def distances(self, labels: Sequence[Any]) -> FloatArray:
        """Semantic distance between every two of `labels`, in [0, 1).

        With A and B the two paths to the root, ``log2(1 + |A xor B| / |A or B|)``: the share of ancestors that
        two categories do not have in common, on a logarithmic scale.

        References
        ----------
        .. [1] Sanchez, D., Batet, M., Isern, D. & Valls, A. (2012). Ontology-based semantic similarity: a new
           feature-based approach. Expert Systems with Applications 39(9), 7718-7728.
        """
        from scipy.sparse import csr_array

        paths = [self.ancestors(category_text(label)) for label in labels]
        position = {node: column for column, node in enumerate(self.nodes)}
        size = np.array([len(path) for path in paths], dtype=np.float64)
        columns = [position[node] for path in paths for node in path]
        starts = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        # Most categories are under few nodes of many: ten thousand of them would fill a gigabyte with zeros.
        member = csr_array((np.ones(len(columns)), columns, starts), shape=(len(labels), len(position)))
        common = (member @ member.T).toarray()
        either = size[:, None] + size[None, :] - common
        distances: FloatArray = np.log2(1.0 + (either - common) / either)
        return distances


def _quote_some(labels: Sequence[str], limit: int = 5) -> str:
    shown = ", ".join(repr(label) for label in labels[:limit])
    return shown + (f" and {len(labels) - limit} more" if len(labels) > limit else "")
