"""The command line: thin commands over the library."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

try:
    import typer
    from rich.console import Console
    from rich.table import Table as RichTable
except ImportError:  # pragma: no cover - depends on what is installed
    sys.exit("The command line needs typer and rich. Install: pip install 'edfkmeans[cli]'")

if TYPE_CHECKING:
    import pandas as pd

    from edfkmeans.selection import Selection

from edfkmeans.chart import chart

app = typer.Typer(
    help="How many clusters? The number of clusters for k-means by effective degrees of freedom.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Scale(StrEnum):
    """What is done to the columns first."""

    standard = "standard"
    none = "none"


KMax = Annotated[
    int | None,
    typer.Option(min=1, help="Largest number of clusters. [default: 30, fewer for few rows]"),
]
Seed = Annotated[int, typer.Option(min=0, help="Same seed, same answer.")]


@app.command()
def select(
    file: Annotated[Path, typer.Argument(help="A CSV file with a header; every column a number.")],
    k_max: KMax = None,
    scale: Annotated[
        Scale, typer.Option(help="Bring the columns to one scale, or not.")
    ] = Scale.standard,
    seed: Seed = 0,
) -> None:
    """Choose the number of clusters for a table.

    Example: edfkmeans select customers.csv --k-max 20
    """
    import pandas as pd

    try:
        frame = pd.read_csv(file)
    except FileNotFoundError:
        _stop(f"There is no file {file}. Check the name and the folder.")
    except (OSError, ValueError) as error:
        _stop(f"{file} could not be read as CSV: {error}")
    _answer(frame, str(file), k_max, scale, seed)


@app.command()
def demo(k_max: KMax = None, seed: Seed = 0) -> None:
    """Choose the number of clusters for scikit-learn's wine data: 178 wines, 13 measurements.

    Example: edfkmeans demo
    """
    from sklearn.datasets import load_wine

    _answer(load_wine(as_frame=True).data, "scikit-learn's wine data", k_max, Scale.standard, seed)


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    app()


def _answer(frame: "pd.DataFrame", name: str, k_max: int | None, scale: Scale, seed: int) -> None:
    from edfkmeans.selection import select_k
    from edfkmeans.table import check_numeric

    try:
        X = check_numeric(frame)
        if scale is Scale.standard:
            spread = X.std(axis=0)
            X = (X - X.mean(axis=0)) / (spread + (spread == 0))
        selection = select_k(X, k_max, random_state=seed, progress=sys.stderr.isatty())
    except ValueError as error:
        _stop(f"{name}: {error}")
    scaled = "columns standardised" if scale is Scale.standard else "columns as they are"
    _show(selection, f"{name} ({frame.shape[0]} rows, {frame.shape[1]} columns, {scaled})")


def _show(selection: "Selection", source: str) -> None:
    """Print the answer, the chart and the table."""
    console = Console()
    console.print(f"[bold]{selection.k} clusters[/bold] in {source}.", highlight=False)
    sizes = ", ".join(str(size) for size in sorted(selection.path.sizes(selection.k))[::-1])
    console.print(f"Rows in them: {sizes}.", highlight=False)
    if selection.candidates:
        others = ", ".join(f"{c.k} (BIC {c.distance:+.0f})" for c in selection.candidates[:4])
        console.print(f"Other local minima of the BIC: k = {others}.", highlight=False)
    minima = [candidate.k for candidate in selection.candidates]
    console.print("\nBIC against k, lower is better (O chosen, o other local minima):\n")
    print(chart(selection.table["bic"].tolist(), selection.k, minima, console.width), end="\n\n")
    table = RichTable("k", "inertia", "df (raw)", "df", "BIC", "")
    for column in table.columns[:-1]:
        column.justify = "right"
    for k, row in selection.table.iterrows():
        chosen = k == selection.k
        mark = "<- chosen" if chosen else "local minimum" if k in minima else ""
        cells = [
            f"{k}",
            f"{row.inertia:.6g}",
            f"{row.dof_raw:.1f}",
            f"{row.dof:.1f}",
            f"{row.bic:.1f}",
        ]
        table.add_row(*cells, mark, style="bold" if chosen else None)
    console.print(table)


def _stop(message: str) -> NoReturn:
    """Say what is wrong and leave with the exit code for bad input."""
    Console(stderr=True).print(message, style="red", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(2)
