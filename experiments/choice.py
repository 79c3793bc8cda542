"""The page on how the default chooses: all its tables, from the results of the studies.

Run with: python experiments/choice.py

The results come from `measured.py`, `one_or_more.py`, `no_structure.py` and `judge.py --check`.
"""

from pathlib import Path

import judge
import measured
import no_structure
import one_or_more
import pages

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "choice.md"


def tables():
    """Make every table of the page, by the name of its mark."""
    return {
        **measured.tables(),
        "no_structure": no_structure.table(),
        "one": one_or_more.table("one"),
        "more": one_or_more.table("more"),
        "learned": judge.table(),
    }


if __name__ == "__main__":
    measured.draw_reliability()
    PAGE.write_text(pages.filled(PAGE.read_text(), tables()))
