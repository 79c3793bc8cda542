"""Results in the terminal: the answer in words, a chart, a table."""

from rich.console import Console
from rich.table import Table as RichTable

from edfkmeans.cli.chart import chart
from edfkmeans.cli.preparing import Prepared
from edfkmeans.comparison import Comparison
from edfkmeans.selection import Selection


def show_selection(selection: Selection, prepared: Prepared) -> None:
    """Print the answer and how sure it is, the runners-up, the chart and the table."""
    console = _console()
    console.print(count(selection.k, "cluster"), style="bold", end="")
    console.print(f" in {_rows(prepared)}{_sure(selection)}.")
    sizes = ", ".join(str(size) for size in sorted(selection.path.sizes(selection.k))[::-1])
    console.print(f"Rows in each: {sizes}.")
    for note in prepared.notes:
        console.print(note)
    for remark in selection.remarks:
        console.print(f"Note: {remark}", style="yellow")
    if selection.candidates:
        console.print("Other k worth a look:")
        for candidate in selection.candidates[:4]:
            console.print(f"  k = {candidate.k}: {candidate.reason}")
    minima = [candidate.k for candidate in selection.candidates]
    console.print("\nBIC against k, lower is better (O chosen, o other candidates):\n")
    print(chart(selection.table["bic"].tolist(), selection.k, minima, console.width), end="\n\n")
    console.print(_table(selection, minima))


def show_comparison(comparison: Comparison, prepared: Prepared) -> None:
    """Print a line for each criterion."""
    console = _console()
    console.print(f"{_rows(prepared)}.")
    for note in prepared.notes:
        console.print(note)
    print(comparison)


def count(number: int, noun: str) -> str:
    """Put a number and a noun together."""
    return f"{number} {noun}" + "s" * (number != 1)


def _console() -> Console:
    return Console(highlight=False, markup=False, soft_wrap=True)


def _rows(prepared: Prepared) -> str:
    rows, columns = prepared.X.shape
    return f"{prepared.source} ({count(rows, 'row')}, {count(columns, 'column')})"


def _sure(selection: Selection) -> str:
    if selection.confidence is None:
        return ""
    share = float(selection.confidence.get(selection.k, 0.0))
    return f", chosen in {100 * share:.0f} % of random parts of the rows"


def _short(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 1e7 else f"{value:.8g}"


def _table(selection: Selection, minima: list[int]) -> RichTable:
    with_silhouette = "silhouette" in selection.table
    table = RichTable("k", "inertia", "df", "BIC")
    if with_silhouette:
        table.add_column("silhouette")
        table.add_column("above reference")
    for column in table.columns:
        column.justify = "right"
    table.add_column("")
    for k, row in selection.table.iterrows():
        chosen = k == selection.k
        mark = "<- chosen" if chosen else "candidate" if k in minima else ""
        cells = [f"{k}", f"{row.inertia:.6g}", _short(row.dof), _short(row.bic)]
        if with_silhouette:
            pair = (row.silhouette, row.silhouette_above)
            cells += ["" if value != value else f"{value:.3f}" for value in pair]
        table.add_row(*cells, mark, style="bold" if chosen else None)
    return table
