"""Reports: one HTML file that needs no network, from a Selection or a Comparison."""

from edfkmeans.report.comparison import write_comparison
from edfkmeans.report.page import write_report

__all__ = ["write_comparison", "write_report"]
