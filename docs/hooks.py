"""What the site adds to the pages when it is built: formulas, the commands, the speed tables."""

import re
import sys
from html import escape
from pathlib import Path

import ziamath

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
for folder in ("benchmarks", "experiments"):
    sys.path.insert(0, str(HERE.parent / folder))

import commands  # noqa: E402
import pages  # noqa: E402
import tables  # noqa: E402

# What stands between ``<!-- name -->`` and ``<!-- /name -->`` on these pages is made anew.
PARTS = {
    "cli.md": {"commands": commands.markdown},
    "peers.md": {
        "peers": tables.peers,
        "criteria": tables.criteria,
        "growth": tables.growth,
        "machine": tables.machine,
    },
}


def on_page_markdown(markdown, page, **given):
    """Fill the parts of a page, and draw its formulas: the site needs no script and no font."""
    parts = PARTS.get(page.file.src_uri, {})
    markdown = pages.filled(markdown, {name: part() for name, part in parts.items()})
    return re.sub(r"^```math\n(.*?)^```$", _formula, markdown, flags=re.DOTALL | re.MULTILINE)


def _formula(match):
    latex = " ".join(match[1].split())
    drawn = ziamath.Latex(latex, size=18, color="currentColor").svg()
    return f'<div class="formula" role="img" aria-label="{escape(latex)}">{drawn}</div>'
