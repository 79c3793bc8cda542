"""Fill the table of degrees of freedom in docs/from_r.md: the R package's numbers and ours.

Run with: python docs/r_numbers.py
"""

import json
import sys
from pathlib import Path

import numpy as np
import sklearn.datasets

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "experiments"))
import pages  # noqa: E402

PAGE = ROOT / "docs" / "from_r.md"
NUMBERS = ROOT / "tests" / "reference" / "degrees_of_freedom.json"


def table():
    """Return the table in Markdown."""
    from edfkmeans import degrees_of_freedom

    lines = [
        "| data | rows | columns | k | k d | R package | edfkmeans |",
        "|---|---|---|---|---|---|---|",
    ]
    for case in json.loads(NUMBERS.read_text(encoding="utf-8")).values():
        if "data" not in case:  # made-up data that would tell no one anything
            continue
        set_name = case["data"].split(":")[1]
        X = np.asarray(getattr(sklearn.datasets, f"load_{set_name}")().data, float)
        spread = X.std(axis=0, ddof=1)
        X = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
        ours = degrees_of_freedom(X, case["labels"], case["pilot_labels"]).total
        n, d, k = case["n"], case["d"], case["k"]
        lines.append(f"| {set_name} | {n} | {d} | {k} | {k * d} | {case['dof']:.7f} | {ours:.7f} |")
    return "\n".join(lines)


def filled(text):
    """Return the page with its table."""
    return pages.filled(text, {"r_numbers": table()})


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
