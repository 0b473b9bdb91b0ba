"""The same k, less loss: MDAV, near-optimal cells, and a proof of how little can be lost at all.

Run: python examples/less_loss.py
"""

from __future__ import annotations

import numpy as np

import microagg

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 6))  # firms in six correlated figures
X = (X - X.mean(axis=0)) / X.std(axis=0)
total = (X**2).sum()

k = 3
mdav = microagg.MDAV(k=k).fit(X)
print(f"MDAV          loses {100 * mdav.sse_ / total:.3f} %")
for effort in ("fast", "default"):
    better = microagg.NearOptimal(k=k, effort=effort, random_state=1).fit(X)
    print(f"{effort:<13} loses {100 * better.sse_ / total:.3f} %")

# Any partition can be refined: here one that somebody else made, by sorting on the first figure.
by_first_figure = np.empty(len(X), dtype=int)
by_first_figure[np.argsort(X[:, 0])] = np.arange(len(X)) // k
for name, labels in {
    "sorted": by_first_figure,
    "then refined": microagg.refine(by_first_figure, X, k, random_state=1),
}.items():
    means = np.array([X[labels == cell].mean(axis=0) for cell in range(labels.max() + 1)])
    print(f"{name:<13} loses {100 * ((X - means[labels]) ** 2).sum() / total:.3f} %")

# And how much better could anyone do?
proved = microagg.NearOptimal(k=k, random_state=1, certificate=True, time_limit=20).fit(X).certificate_
print(proved)
