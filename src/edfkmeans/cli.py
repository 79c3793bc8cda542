"""The command line: thin commands over the library."""

import sys
import warnings
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
    from edfkmeans.table import Values

from edfkmeans import __version__
from edfkmeans.chart import chart

app = typer.Typer(
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
    typer.Option(min=1, help="Largest number of clusters; 30 if not given, fewer for few rows."),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Same seed, same answer.")]


class Rule(StrEnum):
    """How k is read off the BIC curve."""

    paper = "paper"
    r_package = "r-package"
    lowest = "lowest"


class Method(StrEnum):
    """How k is chosen."""

    combined = "combined"
    paper = "paper"
    naive = "naive"


MethodOption = Annotated[
    Method,
    typer.Option(
        help="combined: local minima of the BIC, the silhouette decides, 1 where nothing stands "
        "out; paper: the first local minimum; naive: the same with k d degrees of freedom."
    ),
]
RuleOption = Annotated[
    Rule | None,
    typer.Option(
        help="For methods paper and naive. paper: the first valley; r-package: the same, but 1 "
        "where that has the lowest BIC; lowest: the lowest BIC."
    ),
]


@app.callback(invoke_without_command=True)
def version(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.")
    ] = False,
) -> None:
    """How many clusters? The number of clusters for k-means by effective degrees of freedom."""
    if version:
        print(f"edfkmeans {__version__}")
        raise typer.Exit


File = Annotated[Path, typer.Argument(help="A CSV file with a header; every column a number.")]
ScaleOption = Annotated[Scale, typer.Option(help="Bring the columns to one scale, or not.")]
ConfidenceOption = Annotated[
    bool, typer.Option("--confidence", help="Choose again on parts of the rows, to say how sure.")
]


@app.command()
def select(
    file: File,
    k_max: KMax = None,
    scale: ScaleOption = Scale.standard,
    seed: Seed = 0,
    method: MethodOption = Method.combined,
    rule: RuleOption = None,
    confidence: ConfidenceOption = False,
) -> None:
    """Choose the number of clusters for a table.

    Example: edfkmeans select customers.csv --k-max 20
    """
    _answer(_read(file), str(file), k_max, scale, seed, method, rule, confidence)


@app.command()
def compare(
    file: File,
    k_max: Annotated[
        int | None,
        typer.Option(
            min=2, help="Largest number of clusters; 30 if not given, fewer for few rows."
        ),
    ] = None,
    scale: ScaleOption = Scale.standard,
    seed: Seed = 0,
    criteria: Annotated[
        list[str] | None,
        typer.Option("--criterion", help="Ask only this one; may be given more than once."),
    ] = None,
) -> None:
    """Ask every criterion how many clusters there are in a table.

    Example: edfkmeans compare customers.csv --criterion bic --criterion gap
    """
    from edfkmeans.comparison import compare

    frame = _read(file)
    try:
        X = _scaled(frame, scale)
        progress = sys.stderr.isatty()
        found = compare(X, criteria or "all", k_max=k_max, random_state=seed, progress=progress)
    except ValueError as error:
        _stop(f"{file}: {error}")
    Console(highlight=False, markup=False, soft_wrap=True).print(_source(frame, str(file), scale))
    print(found)


@app.command()
def demo(
    k_max: KMax = None,
    seed: Seed = 0,
    method: MethodOption = Method.combined,
    rule: RuleOption = None,
    confidence: ConfidenceOption = False,
) -> None:
    """Choose the number of clusters for scikit-learn's wine data: 178 wines, 13 measurements.

    Example: edfkmeans demo
    """
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True).data
    _answer(wine, "scikit-learn's wine data", k_max, Scale.standard, seed, method, rule, confidence)


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    app()


def _answer(
    frame: "pd.DataFrame",
    name: str,
    k_max: int | None,
    scale: Scale,
    seed: int,
    method: Method,
    rule: Rule | None,
    confidence: bool,
) -> None:
    from edfkmeans.selection import select_k

    try:
        X = _scaled(frame, scale)
        progress = sys.stderr.isatty()
        selection = select_k(
            X,
            k_max,
            method=method.value,
            rule=rule and rule.value,
            confidence=confidence,
            random_state=seed,
            progress=progress,
        )
    except ValueError as error:
        _stop(f"{name}: {error}")
    _show(selection, _source(frame, name, scale))


def _read(file: Path) -> "pd.DataFrame":
    """Read a CSV file, or leave with a message that says what to do."""
    import pandas as pd

    try:
        with warnings.catch_warnings():
            # Rows with more fields than the header has would be cut short with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(file, index_col=False)
    except pd.errors.ParserWarning:
        _stop(
            f"{file} has rows with more fields than its header. Fields must be separated by commas "
            "and numbers written with a decimal point."
        )
    except FileNotFoundError:
        _stop(f"There is no file {file}. Check the name and the folder.")
    except (OSError, ValueError) as error:
        _stop(f"{file} could not be read as CSV: {error}")
    if frame.shape[1] == 1 and set(";\t|") & set(str(frame.columns[0])):
        _stop(f"{file} seems to use another separator than the comma: {str(frame.columns[0])!r}.")
    return frame


def _scaled(frame: "pd.DataFrame", scale: Scale) -> "Values":
    from edfkmeans.table import check_numeric, read_table

    X = check_numeric(frame)
    if scale is Scale.standard:
        X = read_table(X).values
        spread = X.std(axis=0)
        X = X / (spread + (spread == 0))
    return X


def _source(frame: "pd.DataFrame", name: str, scale: Scale) -> str:
    scaled = "standardised" if scale is Scale.standard else "as they are"
    rows, columns = _count(frame.shape[0], "row"), _count(frame.shape[1], "column")
    return f"{name} ({rows}, {columns}, {scaled})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


def _show(selection: "Selection", source: str) -> None:
    """Print the answer, the chart and the table."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(_count(selection.k, "cluster"), style="bold", end="")
    console.print(f" in {source}.")
    sizes = ", ".join(str(size) for size in sorted(selection.path.sizes(selection.k))[::-1])
    console.print(f"Rows in each: {sizes}.")
    if selection.confidence is not None:
        share = float(selection.confidence.get(selection.k, 0.0))
        console.print(f"Chosen in {100 * share:.0f} % of the resamples.")
    if selection.candidates:
        console.print("Other k worth a look:")
        for candidate in selection.candidates[:4]:
            console.print(f"  k = {candidate.k}: {candidate.reason}")
    for remark in selection.remarks:
        console.print(f"Note: {remark}")
    minima = [candidate.k for candidate in selection.candidates]
    console.print("\nBIC against k, lower is better (O chosen, o other candidates):\n")
    print(chart(selection.table["bic"].tolist(), selection.k, minima, console.width), end="\n\n")
    table = RichTable("k", "inertia", "df estimated", "df smoothed", "BIC", "")
    for column in table.columns[:-1]:
        column.justify = "right"
    for k, row in selection.table.iterrows():
        chosen = k == selection.k
        mark = "<- chosen" if chosen else "candidate" if k in minima else ""
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
