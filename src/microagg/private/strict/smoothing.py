"""A smooth distribution from few noisy counts. Post-processing only."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from microagg._typing import FloatArray

__all__ = ["smooth_shares"]


def smooth_shares(
    noisy: FloatArray, n_records: int, scale: float, stiffness: float, alone: int | None = None
) -> FloatArray:
    """Shares of neighbouring parts that go with their noisy counts, and whose logarithms bend as little as they can.

    Minimised is the misfit to the counts, in scales of their noise, plus `stiffness` times the second differences of
    the logarithms. Both are measured by ``sqrt(1 + x^2) - 1``: like Laplace noise, and like spikes that some values
    make, large ones count by their size and not by its square.

    Parameters
    ----------
    noisy : ndarray of shape (n_parts,)
    n_records : int
    scale : float
        Of the noise.
    stiffness : float
    alone : int, optional
        A part that says nothing about those beside it: a value that many records have.
    """
    if len(noisy) < 4:
        shares = np.maximum(noisy, 0.0) + scale / n_records
        return np.asarray(shares / shares.sum(), dtype=np.float64)
    wanted, unit = noisy / n_records, scale / n_records
    smooth = np.delete(np.arange(len(noisy)), [] if alone is None else [alone])

    def misfit(logs: FloatArray) -> tuple[float, FloatArray]:
        shares = _shares(logs)
        fit, fit_slope = _soft((shares - wanted) / unit)
        bend, bend_slope = _soft(np.diff(logs[smooth], 2))
        by_share = fit_slope / unit
        slope = shares * (by_share - shares @ by_share)
        slope[smooth[2:]] += stiffness * bend_slope
        slope[smooth[1:-1]] -= 2.0 * stiffness * bend_slope
        slope[smooth[:-2]] += stiffness * bend_slope
        return float(fit.sum() + stiffness * bend.sum()), slope

    start = np.maximum(np.where(noisy < scale, 0.0, noisy), 1e-3 * max(float(noisy.max()), 1.0))
    start = np.convolve(np.pad(start / start.sum(), 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
    # Of vectors this short, threads of the linear algebra would spend their time waiting for each other.
    with threadpool_limits(1, user_api="blas"):
        found = minimize(misfit, np.log(start), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return _shares(found.x)


def _shares(logs: FloatArray) -> FloatArray:
    raised = np.exp(logs - logs.max())
    return np.asarray(raised / raised.sum(), dtype=np.float64)


def _soft(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``sqrt(1 + x^2) - 1`` and its derivative."""
    root = np.hypot(1.0, x)
    return root - 1.0, x / root
