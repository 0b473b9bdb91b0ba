"""Pictures that a notebook shows and that can be saved."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from microagg.errors import ParameterError

__all__ = ["Picture", "drawing"]


class Picture:
    """A picture as SVG: a notebook shows it, and :meth:`save` writes it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture: {len(self.svg):,} characters of SVG; .save('picture.svg')>"

    def save(self, path: str | Path) -> Path:
        """Write it into an SVG file."""
        path = Path(path)
        if path.suffix.lower() != ".svg":
            raise ParameterError(f"pictures are saved as SVG: a name that ends in .svg, not {path.name!r}")
        path.write_text(self.svg, encoding="utf-8")
        return path


class _Drawing:
    """A figure while it is drawn, and the picture once it is."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure
        self.picture = Picture("")


@contextmanager
def drawing(width: float, height: float) -> Iterator[_Drawing]:
    """Yield a Matplotlib figure to draw into; the same drawing gives the same bytes.

    Raises
    ------
    ParameterError
        If Matplotlib is not there.
    """
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ParameterError("pictures need Matplotlib: pip install 'microagg[plot]'") from None
    stream = io.StringIO()
    # Names of columns are no formulas, whatever dollar signs they have; and they stay text, which a browser can show in
    # any script, while Matplotlib's own font has few, and warns.
    settings = {"svg.hashsalt": "microagg", "text.parse_math": False, "svg.fonttype": "none"}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        made = _Drawing(Figure(figsize=(width, height), layout="constrained"))
        FigureCanvasAgg(made.figure)
        yield made
        made.figure.savefig(stream, format="svg", metadata={"Date": None})
    made.picture = Picture(stream.getvalue())
