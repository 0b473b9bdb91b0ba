"""The report on a release: finished results as one page for people, and the same numbers as JSON.

Nothing is measured, counted or compared here: :mod:`microagg.releases.report_results` runs measures, recounts and
correlations first and hands over their results in a :class:`~microagg.reports.source.ReportSource`. What is left is
what a picture or a sentence needs: the bars of a histogram, shares of categories, quantiles of results, and rounding,
so that the public form shows nothing exact.
"""
