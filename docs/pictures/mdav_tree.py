"""Draw docs/pictures/mdav_tree.svg: which leaves one round of MDAV looks at. Run: python docs/pictures/mdav_tree.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np

LEAF, SIDE, K = 16, 420, 10


def leaves_of(points: np.ndarray, members: np.ndarray) -> list[np.ndarray]:
    """Halve at the median of the wider attribute until leaves are small."""
    if len(members) <= LEAF:
        return [members]
    widest = points[members].var(axis=0).argmax()
    order = members[np.argsort(points[members, widest])]
    middle = len(order) // 2
    return leaves_of(points, order[:middle]) + leaves_of(points, order[middle:])


def main() -> None:
    points = np.random.default_rng(3).normal(size=(480, 2))
    centroid = points.mean(axis=0)
    r = int(((points - centroid) ** 2).sum(axis=1).argmax())
    from_r = ((points - points[r]) ** 2).sum(axis=1)
    reach, farthest = np.sort(from_r)[K - 1], from_r.max()
    s = int(from_r.argmax())
    low, high = points.min(axis=0) - 0.25, points.max(axis=0) + 0.25
    scale = (SIDE - 20) / (high - low).max()

    def place(point: np.ndarray) -> np.ndarray:
        return (point - low) * scale + 10

    drawn = []
    for members in leaves_of(points, np.arange(len(points))):
        least, most = points[members].min(axis=0), points[members].max(axis=0)
        nearest = (np.maximum(np.maximum(least - points[r], points[r] - most), 0) ** 2).sum()
        corner = (np.maximum(points[r] - least, most - points[r]) ** 2).sum()
        fill = "#f4b183" if nearest <= reach else "#9dc3e6" if corner >= farthest else "none"
        (x, y), (width, height) = place(least), (most - least) * scale
        drawn.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" stroke="#999"/>'
        )
    for x, y in map(place, points):
        drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6" fill="#444"/>')
    for name, point, colour in (("r", points[r], "#c00"), ("s", points[s], "#06c"), ("c", centroid, "#080")):
        x, y = place(point)
        drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
        drawn.append(f'<text x="{x + 6:.1f}" y="{y - 5:.1f}" font-size="16" fill="{colour}">{name}</text>')
    x, y = place(points[r])
    drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{np.sqrt(reach) * scale:.1f}" fill="none" stroke="#c00"/>')
    body = "\n".join(drawn)
    size = f'width="{SIDE}" height="{SIDE}" viewBox="0 0 {SIDE} {SIDE}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">\n{body}\n</svg>\n'
    Path(__file__).with_suffix(".svg").write_text(svg)


if __name__ == "__main__":
    main()
