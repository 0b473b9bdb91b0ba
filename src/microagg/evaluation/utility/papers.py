"""Papers that more than one measure comes from."""

from __future__ import annotations

__all__ = [
    "ANONYMISATION_OPINION",
    "BETA_LIKENESS",
    "COMPARISON",
    "DATA_ORIENTED",
    "DEPENDENCE",
    "HOLDOUT_TESTS",
    "L_DIVERSITY",
    "RANGE_COUNTS",
    "REAL_ANONYMITY",
    "RECORD_LINKAGE",
    "RISK_FRAMEWORK",
]

DEPENDENCE = "Rebollo-Monedero et al. (2016), Information Sciences 342, 1-23"
DATA_ORIENTED = "Domingo-Ferrer & Mateo-Sanz (2002), doi:10.1109/69.979982"
COMPARISON = "Domingo-Ferrer & Torra (2001), A quantitative comparison of disclosure control methods for microdata"
L_DIVERSITY = "Machanavajjhala et al. (2007), doi:10.1145/1217299.1217302"
REAL_ANONYMITY = "Nin, Herranz & Torra (2008), doi:10.1142/S0218488508005285"
RECORD_LINKAGE = "Pagliuca & Seri (1999), Some results of individual ranking method, Esprit SDC Project MI-3/D2"
BETA_LIKENESS = "Cao & Karras (2012), PVLDB 5(11), 1388-1399"
RISK_FRAMEWORK = "after Giomi et al. (2023), A unified framework for quantifying privacy risk in synthetic data"
HOLDOUT_TESTS = "Platzer & Reutterer (2021), doi:10.3389/fdata.2021.679939"
RANGE_COUNTS = "Xiao, Wang & Gehrke (2011), Differential privacy via wavelet transforms, IEEE TKDE 23(8)"
ANONYMISATION_OPINION = "Article 29 Working Party (2014), Opinion 05/2014 on anonymisation techniques"
