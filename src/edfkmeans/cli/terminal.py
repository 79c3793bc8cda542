"""Results in the terminal: the answer in words, a chart, a table."""

from typing import cast

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from edfkmeans.cli.chart import chart
from edfkmeans.cli.preparing import Prepared
from edfkmeans.comparison import Comparison
from edfkmeans.profiles import descriptions
from edfkmeans.rows.arguments import counted
from edfkmeans.rows.labels import size_text
from edfkmeans.selection import Selection

# Clusters that are described, at most: the report has them all.
_DESCRIBED = 12
# Columns of the table that are shown where there are any, and their titles.
_SHOWN = {"silhouette": "silhouette", "agreement": "agreement", "near": "near"}


def show_selection(selection: Selection, prepared: Prepared) -> None:
    """Print the answer and how sure it is, the runners-up, the chart and the table."""
    console = _console()
    console.print(selection.headline, style="bold", end="")
    console.print(f" ({_rows(prepared, selection.path.n_rows)}).")
    sizes = ", ".join(size_text(size, "") for size in selection.path.sizes(selection.k))
    console.print(f"Rows in each: {sizes}.")
    # Rows that are elsewhere are not looked at again for this.
    if 1 < selection.k <= _DESCRIBED and selection.path.kept_rows is None:
        rows = selection.path.as_counted(prepared.X)
        restore = prepared.restore(selection.path.metric)
        words = descriptions(selection.path, selection.k, rows, prepared.names, restore)
        for cluster, like in enumerate(words):
            console.print(f"  cluster {cluster}: {like}")
    elif selection.k > _DESCRIBED:
        console.print("  What each is like is in the report: --report report.html")
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
        for candidate in selection.candidates[:4]:
            console.print(f"  k = {candidate.k}: {candidate.reason}")
    others = [candidate.k for candidate in selection.candidates]
    column, title = "bic", "BIC against k, lower is better"
    if selection.confidence is not None:
        column, title = "agreement", "Expected agreement against k, higher is better"
    console.print(f"\n{title} (O {selection.standing(selection.k)}, o other candidates):\n")
    print(chart(selection.table[column].tolist(), selection.k, others, console.width), end="\n\n")
    console.print(_table(selection))
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


def _short(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 1e7 else f"{value:.8g}"


def _table(selection: Selection) -> RichTable:
    shown = [name for name in _SHOWN if name in selection.table]
    titles = ("k", "inertia", "df", "BIC", *(_SHOWN[name] for name in shown))
    table = RichTable(*titles, box=box.SIMPLE_HEAD)
    for column in table.columns:
        column.justify = "right"
    table.add_column("")
    for k, row in selection.table.iterrows():
        mark = selection.standing(cast("int", k))
        cells = [f"{k}", f"{row.inertia:.6g}", _short(row.dof), _short(row.bic)]
        cells += ["" if row[name] != row[name] else f"{row[name]:.2f}" for name in shown]
        table.add_row(*cells, mark, style="bold" if k == selection.k else None)
    return table
