"""A report: one HTML file that needs no network, from a Selection."""

from edfkmeans.report.page import write_report

__all__ = ["write_report"]
