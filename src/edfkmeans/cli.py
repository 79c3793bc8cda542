"""The command line: thin commands over the library."""

import json
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

try:
    import typer
    from rich.console import Console
except ImportError:  # pragma: no cover - depends on what is installed
    sys.exit("The command line needs typer and rich. Install: pip install 'edfkmeans[cli]'")

if TYPE_CHECKING:
    import pandas as pd

    from edfkmeans.prepared import Prepared
    from edfkmeans.selection import Selection

from edfkmeans import __version__

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

# The version of the JSON that `select` and `compare` write; it grows when a name changes.
SCHEMA = 1


class Scale(StrEnum):
    """What is done to the columns first."""

    standard = "standard"
    robust = "robust"
    none = "none"


class Missing(StrEnum):
    """What is done about missing values."""

    drop = "drop"
    mean = "mean"
    median = "median"


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


class Scheme(StrEnum):
    """The six kinds of simulated data."""

    assumptions_met = "assumptions-met"
    scale_varies = "scale-varies"
    shape_varies = "shape-varies"
    long_tails = "long-tails"
    uniform = "uniform"
    non_convex = "non-convex"


File = Annotated[
    Path,
    typer.Argument(
        help="CSV or TSV (.gz too), Parquet, Feather, NPY or NPZ; - for standard input. Separator, "
        "encoding, header and decimal comma are found out."
    ),
]
Columns = Annotated[
    list[str] | None, typer.Option(help="Cluster by this column only; may be given more than once.")
]
Drop = Annotated[
    list[str] | None, typer.Option(help="Leave this column out; may be given more than once.")
]
Id = Annotated[str | None, typer.Option("--id", help="The column that names the rows.")]
Encode = Annotated[
    bool,
    typer.Option("--encode", help="Turn each value of a text column into a column of 0 and 1."),
]
MissingOption = Annotated[
    Missing | None,
    typer.Option(help="Rows with missing values: leave them out, or fill them by mean or median."),
]
ScaleOption = Annotated[
    Scale,
    typer.Option(
        help="standard: mean 0 and variance 1; robust: by median and quartiles; none: as they are."
    ),
]
KMax = Annotated[
    int | None,
    typer.Option(min=1, help="Largest number of clusters; 30 if not given, fewer for few rows."),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Same seed, same answer.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of threads; all cores if not given.")]
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
Confidence = Annotated[
    bool,
    typer.Option(help="Choose again on 20 random parts of the rows, to say how sure."),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        help="Write id, cluster (0 .. k-1) and ambiguity of every row, as CSV or (by its name) "
        "Parquet."
    ),
]
Json = Annotated[
    Path | None, typer.Option("--json", help="Write everything as JSON; - for standard output.")
]
Report = Annotated[Path | None, typer.Option(help="Write a report, one HTML file.")]
Plot = Annotated[Path | None, typer.Option(help="Draw the curve: .png, .svg or .pdf.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print the number of clusters only.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are already there.")]


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


@app.command()
def select(
    file: File,
    columns: Columns = None,
    drop: Drop = None,
    id_column: Id = None,
    encode: Encode = False,
    missing: MissingOption = None,
    scale: ScaleOption = Scale.standard,
    k_max: KMax = None,
    method: MethodOption = Method.combined,
    rule: RuleOption = None,
    confidence: Confidence = True,
    seed: Seed = 0,
    jobs: Jobs = None,
    labels: Labels = None,
    json_file: Json = None,
    report: Report = None,
    plot: Plot = None,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Choose the number of clusters for a table.

    Example: edfkmeans select customers.csv --id name --labels labels.csv --report report.html
    """
    _check_rule(method, rule)
    _check_outputs([labels, json_file, report, plot], force, file)
    prepared, _ = _read(file, columns, drop, id_column, encode, missing, scale)
    _answer(
        prepared,
        k_max,
        method,
        rule,
        confidence,
        seed,
        jobs,
        labels,
        json_file,
        report,
        plot,
        quiet,
    )


@app.command()
def demo(
    k_max: KMax = None,
    method: MethodOption = Method.combined,
    rule: RuleOption = None,
    confidence: Confidence = True,
    seed: Seed = 0,
    jobs: Jobs = None,
    labels: Labels = None,
    json_file: Json = None,
    report: Report = None,
    plot: Plot = None,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Choose the number of clusters for scikit-learn's wine data: 178 wines, 13 measurements.

    Example: edfkmeans demo --report report.html
    """
    from sklearn.datasets import load_wine

    from edfkmeans.prepared import prepare

    _check_rule(method, rule)
    _check_outputs([labels, json_file, report, plot], force)
    prepared = prepare(load_wine(as_frame=True).data, "scikit-learn's wine data")
    _answer(
        prepared,
        k_max,
        method,
        rule,
        confidence,
        seed,
        jobs,
        labels,
        json_file,
        report,
        plot,
        quiet,
    )


@app.command()
def compare(
    file: File,
    columns: Columns = None,
    drop: Drop = None,
    id_column: Id = None,
    encode: Encode = False,
    missing: MissingOption = None,
    scale: ScaleOption = Scale.standard,
    k_max: Annotated[
        int | None,
        typer.Option(
            min=2, help="Largest number of clusters; 30 if not given, fewer for few rows."
        ),
    ] = None,
    criteria: Annotated[
        list[str] | None,
        typer.Option("--criterion", help="Ask only this one; may be given more than once."),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="A column with a known grouping: left out, and compared with every answer."
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    json_file: Json = None,
    plot: Plot = None,
    force: Force = False,
) -> None:
    """Ask every criterion how many clusters there are in a table.

    Example: edfkmeans compare customers.csv --criterion bic --criterion gap
    """
    from edfkmeans.comparison import compare

    _check_outputs([json_file, plot], force, file)
    if truth is not None and truth == id_column:
        _stop(f"--truth {truth!r} is the --id column too. Name another one.")
    prepared, grouping = _read(file, columns, drop, id_column, encode, missing, scale, truth)
    try:
        found = compare(
            prepared.X,
            criteria or "all",
            k_max=k_max,
            labels=grouping,
            random_state=seed,
            n_jobs=jobs,
            progress=sys.stderr.isatty(),
        )
    except ValueError as error:
        _stop(f"{prepared.source}: {error}")
    if json_file is not None:
        table = found.table.reset_index().astype(object)
        lines = table.where(table.notna(), None).to_dict("records")
        _write_json(json_file, _about(prepared, seed) | {"criteria": lines})
    if plot is not None:
        _save_plot(found.plot()[0].figure, plot)
    if str(json_file) != "-":
        from edfkmeans.terminal import show_comparison

        show_comparison(found, prepared)


@app.command()
def simulate(
    scheme: Annotated[Scheme, typer.Argument(help="The kind of clusters.")],
    k: Annotated[int, typer.Option(min=2, help="Number of clusters.")] = 5,
    d: Annotated[int, typer.Option(min=1, help="Number of columns.")] = 5,
    n: Annotated[int, typer.Option(min=2, help="Number of rows.")] = 1000,
    seed: Seed = 0,
    output: Annotated[
        Path, typer.Option(help="The CSV file to write; - for standard output.")
    ] = Path("-"),
    force: Force = False,
) -> None:
    """Draw a data set whose clusters are known, as in the paper's simulations.

    Example: edfkmeans simulate long-tails --k 5 --d 10 --output simulated.csv
    """
    import pandas as pd

    from edfkmeans.files import whole
    from edfkmeans.simulate import SCHEMES
    from edfkmeans.simulate import simulate as draw

    _check_outputs([output], force)
    name = SCHEMES[list(Scheme).index(scheme)]
    try:
        X, truth = draw(name, k, d, n, random_state=seed)
    except ValueError as error:
        _stop(str(error))
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(d)]).assign(cluster=truth)
    if str(output) == "-":
        frame.to_csv(sys.stdout, index=False)
        return
    with whole(output) as part:
        frame.to_csv(part, index=False)
    print(f"{n} rows in {k} clusters: {output} (the truth is in the column 'cluster').")


@app.command()
def info() -> None:
    """Tell the versions of what is installed, for a bug report.

    Example: edfkmeans info
    """
    import importlib.util
    import os
    import platform
    from importlib import metadata

    lines = [("edfkmeans", __version__), ("Python", platform.python_version())]
    lines.append(("system", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"))
    names = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "pyarrow", "matplotlib", "jinja2")
    for name in (*names, "dask"):
        there = importlib.util.find_spec({"scikit-learn": "sklearn"}.get(name, name))
        lines.append((name, metadata.version(name) if there else "not installed"))
    for name, value in lines:
        print(f"{name:<14}{value}")


def main() -> None:
    """Run the command line; the entry point of the installed command."""
    app()


def _check_rule(method: Method, rule: Rule | None) -> None:
    if method is Method.combined and rule is not None:
        _stop(
            f"--rule {rule.value} is for --method paper and --method naive; the method combined "
            "has its own. Leave --rule out, or add --method paper."
        )


def _check_outputs(outputs: list[Path | None], force: bool, source: Path | None = None) -> None:
    """Refuse before the work what could not be written after it."""
    named = [file for file in outputs if file is not None and str(file) != "-"]
    for file in named:
        if file.is_dir():
            _stop(f"{file} is a folder. Name a file in it.")
        if not file.parent.is_dir():
            _stop(f"There is no folder {file.parent} to write {file.name} to. Make it first.")
        if named.count(file) > 1:
            _stop(f"{file} is named for two outputs. Give each a name of its own.")
        if source is not None and source.exists() and file.exists() and file.samefile(source):
            _stop(f"{file} is the table itself. Name another file to write to.")
        if file.exists() and not force:
            _stop(f"{file} is there already. Name another file, or overwrite it with --force.")


def _read(
    file: Path,
    columns: list[str] | None,
    drop: list[str] | None,
    id_column: str | None,
    encode: bool,
    missing: Missing | None,
    scale: Scale,
    truth: str | None = None,
) -> "tuple[Prepared, pd.Series | None]":
    """Read a file and prepare its rows, or leave with a message that says what to do."""
    from edfkmeans.datafile import BadFileError, read_file
    from edfkmeans.prepared import known_column, prepare

    source = "standard input" if str(file) == "-" else str(file)
    grouping = None
    try:
        frame, notes = read_file(file)
        if truth is not None:
            grouping = frame.pop(known_column(frame, truth, "--truth", source))
        prepared = prepare(
            frame,
            source,
            columns=columns,
            drop=drop,
            id_column=id_column,
            encode=encode,
            missing=None if missing is None else missing.value,
            scale=scale.value,
            notes=notes,
        )
    except BadFileError as error:
        _stop(str(error))
    return prepared, None if grouping is None else grouping.iloc[prepared.kept]


def _answer(
    prepared: "Prepared",
    k_max: int | None,
    method: Method,
    rule: Rule | None,
    confidence: bool,
    seed: int,
    jobs: int | None,
    labels: Path | None,
    json_file: Path | None,
    report: Path | None,
    plot: Path | None,
    quiet: bool,
) -> None:
    from edfkmeans.selection import select_k

    try:
        selection = select_k(
            prepared.X,
            k_max,
            method=method.value,
            rule=rule and rule.value,
            confidence=confidence,
            random_state=seed,
            n_jobs=jobs,
            progress=sys.stderr.isatty(),
        )
    except ValueError as error:
        _stop(f"{prepared.source}: {error}")
    if labels is not None:
        _write_labels(labels, selection, prepared)
    if json_file is not None:
        _write_json(json_file, _about(prepared, seed) | selection.to_dict())
    if plot is not None:
        _save_plot(selection.plot().figure, plot)
    if report is not None:
        selection.to_html(
            report,
            prepared.X,
            names=prepared.names,
            ids=prepared.ids,
            offset=prepared.offset,
            unit=prepared.spread,
            title=f"How many clusters in {prepared.source}?",
            notes=prepared.notes,
            command=shlex.join(["edfkmeans", *sys.argv[1:]]),
        )
    if str(json_file) == "-":
        return
    if quiet:
        print(selection.k)
        return
    from edfkmeans.terminal import show_selection

    show_selection(selection, prepared)
    for what, file in (("labels", labels), ("JSON", json_file), ("plot", plot), ("report", report)):
        if file is not None:
            print(f"Wrote the {what}: {file}")


def _write_labels(file: Path, selection: "Selection", prepared: "Prepared") -> None:
    import pandas as pd

    from edfkmeans.files import whole

    frame = pd.DataFrame(
        {
            str(prepared.ids.name): prepared.ids,
            "cluster": selection.labels,
            "ambiguity": selection.ambiguity,
        }
    )
    with whole(file) as part:
        if file.suffix in (".parquet", ".pq"):
            frame.to_parquet(part, index=False)
        else:
            frame.iloc[:, 0] = frame.iloc[:, 0].map(_harmless)
            frame.to_csv(part, index=False, float_format="%.6g", lineterminator="\n")


def _harmless(value: Any) -> Any:
    """Keep a spreadsheet from running a text as a formula."""
    risky = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if risky else value


def _about(prepared: "Prepared", seed: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "edfkmeans": __version__,
        "source": prepared.source,
        "columns": prepared.names,
        "offset": prepared.offset.tolist(),
        "spread": prepared.spread.tolist(),
        "notes": list(prepared.notes),
        "seed": seed,
    }


def _write_json(file: Path, content: dict[str, Any]) -> None:
    from edfkmeans.files import whole

    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    if str(file) == "-":
        sys.stdout.write(text)
        return
    with whole(file) as part:
        part.write_text(text, encoding="utf-8")


def _save_plot(figure: Any, file: Path) -> None:
    from edfkmeans.files import whole

    try:
        with whole(file) as part:
            figure.savefig(part, dpi=150)
    except ValueError as error:
        _stop(f"--plot {file}: {error}. Name a .png, .svg or .pdf file.")


def _stop(message: str) -> NoReturn:
    """Say what is wrong and leave with the exit code for bad input."""
    Console(stderr=True).print(message, style="red", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(2)
