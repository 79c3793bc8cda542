"""Results in the terminal: the answer in words, a chart, a table."""

from pathlib import Path
from typing import Any, cast

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from edfkmeans.choosing.candidates import Candidate
from edfkmeans.choosing.judge import TIE
from edfkmeans.cli.chart import chart
from edfkmeans.cli.preparing import Prepared
from edfkmeans.comparison import Comparison
from edfkmeans.profiles import descriptions
from edfkmeans.rows.arguments import counted
from edfkmeans.rows.labels import size_text
from edfkmeans.selection import Selection

# Clusters that are described, at most: the report has them all.
_DESCRIBED = 12
# Candidates that are listed, and the part of the resamples from which further ones are.
_CANDIDATES, _OFTEN = 4, 0.1
# Columns of the table, and their titles; and those that a narrow terminal can do without, in turn.
_TITLES = {"inertia": "inertia", "dof": "df", "bic": "BIC"}
_TITLES |= {"silhouette": "silhouette", "agreement": "agreement", "near": "near"}
_DISPENSABLE = ("dof", "inertia", "silhouette", "near")

_MEANT = (
    "agreement: how well the clusters are expected to agree with the groups there are, as a part "
    "of the best that any k reaches; near: how likely that is within 0.1 of the best."
)

# Wider than any table.
_ANY_WIDTH = 1000


def show_selection(selection: Selection, prepared: Prepared, report: Path | None = None) -> None:
    """Print the answer and how sure it is, the runners-up, the chart and the table."""
    console = _console()
    console.print(selection.headline, style="bold", end="")
    console.print(f" ({_rows(prepared, selection.path.n_rows)}).")
    sizes = selection.path.sizes(selection.k)
    weighed = prepared.weights is not None or sizes.sum() != selection.path.n_rows
    listed = ", ".join(size_text(size, "") for size in sizes)
    console.print(f"{'Weight' if weighed else 'Rows'} in each: {listed}.")
    # Rows that are elsewhere are not looked at again for this.
    if 1 < selection.k <= _DESCRIBED and selection.path.kept_rows is None:
        rows = selection.path.as_counted(prepared.X)
        restore = prepared.restore(selection.path.metric)
        words = descriptions(selection.path, selection.k, rows, prepared.names, restore)
        for cluster, like in enumerate(words):
            console.print(f"  cluster {cluster}: {like}")
    elif selection.k > _DESCRIBED:
        where = report or "--report report.html"
        console.print(f"  What each is like is in the report: {where}")
    for note in prepared.notes:
        console.print(note)
    for remark in selection.remarks:
        console.print(f"Remark: {remark}", style="yellow")
    if selection.sureness is not None:
        near = float(selection.table["near"][selection.k])
        provided = ", with the columns as they are" if selection.column_remarks else ""
        console.print(
            f"That k = {selection.k} comes near the best there is{provided}: {selection.sureness} "
            f"({100 * near:.0f} %)."
        )
    if selection.confidence is not None and selection.reasons.get(selection.k):
        console.print(f"Why k = {selection.k}: {selection.reasons[selection.k]}.")
    if selection.candidates:
        console.print("Other k worth a look:")
        first = _listed(selection)
        for candidate in first:
            why_not = _why_not(selection, candidate)
            console.print(f"  k = {candidate.k}: {candidate.reason}{why_not}")
        more = len(selection.candidates) - len(first)
        if more:
            console.print(f"  and {more} more, in the table and the report")
    others = [candidate.k for candidate in selection.candidates]
    column, title = "bic", "BIC against k, lower is better"
    if selection.confidence is not None:
        column, title = "agreement", "Expected agreement against k, higher is better"
    console.print(f"\n{title} (O {selection.standing(selection.k)}, o other candidates):\n")
    print(chart(selection.table[column].tolist(), selection.k, others, console.width), end="\n\n")
    _show_table(console, selection)
    if selection.confidence is not None:
        console.print(_MEANT)
    console.print(f"What to do next: {' '.join(selection.advice)}")


def show_comparison(comparison: Comparison, prepared: Prepared) -> None:
    """Print a line for each criterion."""
    console = _console()
    console.print(f"{_rows(prepared, len(prepared.X))}.")
    for note in prepared.notes:
        console.print(note)
    for remark in prepared.remarks or ():
        console.print(f"Remark: {remark}", style="yellow")
    print(comparison)
    console.print(" ".join(comparison.meaning))


def _console() -> Console:
    return Console(highlight=False, markup=False, soft_wrap=True)


def _rows(prepared: Prepared, rows: int) -> str:
    columns = counted(len(prepared.names), "column")
    return f"{prepared.source}: {counted(rows, 'row')}, {columns}"


def _listed(selection: Selection) -> list[Candidate]:
    """Return the first candidates, and those that many resamples chose."""
    shares = selection.resamples
    often = set() if shares is None else set(shares.index[shares >= _OFTEN])
    found = enumerate(selection.candidates)
    return [each for nth, each in found if nth < _CANDIDATES or each.k in often]


def _why_not(selection: Selection, candidate: Candidate) -> str:
    """Say of a k with a higher expected agreement why it is not the answer."""
    if selection.confidence is None or selection.k != selection.chosen:
        return ""
    agreement = selection.confidence["agreement"]
    if agreement[candidate.k] <= agreement[selection.k]:
        return ""
    return f" (higher by at most {TIE}: of such k the smallest from 2 on is taken)"


def _show_table(console: Console, selection: Selection) -> None:
    """Print what fits into the terminal: columns are left out, and no number is cut."""
    titles = {name: title for name, title in _TITLES.items() if name in selection.table}
    left_out = []
    table, width = _table(selection, titles)
    for name in _DISPENSABLE:
        if width > console.width and name in titles:
            left_out.append(titles.pop(name))
            table, width = _table(selection, titles)
    Console(highlight=False, markup=False, width=width).print(table)
    if left_out:
        console.print(f"No room for {', '.join(left_out)}: --json and --report have all columns.")


def _table(selection: Selection, titles: dict[str, str]) -> tuple[RichTable, int]:
    """Return these columns as a table, and how wide it is."""
    table = RichTable("k", *titles.values(), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in table.columns:
        column.justify = "right"
    table.add_column("")
    for k, row in selection.table[list(titles)].iterrows():
        cells = [f"{k}", *(_cell(name, value) for name, value in row.items())]
        mark = selection.standing(cast("int", k))
        table.add_row(*cells, mark, style="bold" if k == selection.k else None)
    return table, Console(width=_ANY_WIDTH).measure(table).maximum


def _cell(name: Any, value: float) -> str:
    if name == "inertia":
        return f"{value:.6g}"
    if name in ("dof", "bic"):
        return f"{value:.1f}" if abs(value) < 1e7 else f"{value:.8g}"
    return "" if value != value else f"{value:.2f}"
