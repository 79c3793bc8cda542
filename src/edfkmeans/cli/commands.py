"""The command line: thin commands over the library."""

import io
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from edfkmeans._extras import needs

try:
    import typer
    from rich.console import Console
except ImportError:  # pragma: no cover - depends on what is installed
    sys.exit(needs("The command line", "typer and rich", "cli"))

if TYPE_CHECKING:
    import pandas as pd

    from edfkmeans.cli.outputs import Outputs
    from edfkmeans.cli.preparing import Prepared

from edfkmeans import __version__
from edfkmeans.cli import options

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


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
    file: options.File,
    columns: options.Columns = None,
    drop: options.Drop = None,
    id_column: options.Id = None,
    encode: options.Encode = False,
    missing: options.Missing = None,
    scale: options.Scale = "standard",
    k_max: options.KMax = None,
    method: options.Method = "combined",
    rule: options.Rule = None,
    confidence: options.Confidence = True,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    labels: options.Labels = None,
    json_file: options.Json = None,
    report: options.Report = None,
    plot: options.Plot = None,
    quiet: options.Quiet = False,
    force: options.Force = False,
    engine: options.Engine = "memory",
    scheduler: options.Scheduler = None,
) -> None:
    """Choose the number of clusters for a table.

    Example: edfkmeans select customers.csv --id name --labels labels.csv --report report.html
    """
    from edfkmeans.cli.outputs import Outputs

    _check_rule(method, rule)
    outputs = Outputs(labels, json_file, report, plot, force)
    how = {"k_max": k_max, "method": method, "rule": rule, "random_state": seed, "n_jobs": jobs}
    with _told():
        outputs.check(file)
        if engine == "memory":
            if scheduler is not None:
                _stop(f"--scheduler {scheduler} is for --engine dask. Add that, or leave it out.")
            prepared, _ = _read(
                file,
                columns=columns,
                drop=drop,
                id_column=id_column,
                encode=encode,
                missing=missing,
                scale=scale,
            )
            _answer(prepared, outputs, quiet, confidence, **how)
            return
        _check_dask(labels, encode, missing, id_column, scale)
        try:
            from edfkmeans.engines.dask_files import connected
        except ImportError:
            _stop(needs("--engine dask", "dask", "dask"))

        with connected(scheduler):
            prepared = _open(file, columns, drop, scale)
            _answer(prepared, outputs, quiet, confidence, **how)


@app.command()
def demo(
    k_max: options.KMax = None,
    method: options.Method = "combined",
    rule: options.Rule = None,
    confidence: options.Confidence = True,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    labels: options.Labels = None,
    json_file: options.Json = None,
    report: options.Report = None,
    plot: options.Plot = None,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Choose the number of clusters for scikit-learn's wine data: 178 wines, 13 measurements.

    Example: edfkmeans demo --report report.html
    """
    from sklearn.datasets import load_wine

    from edfkmeans.cli.outputs import Outputs
    from edfkmeans.cli.preparing import prepare

    _check_rule(method, rule)
    outputs = Outputs(labels, json_file, report, plot, force)
    with _told():
        outputs.check()
        prepared = prepare(load_wine(as_frame=True).data, "scikit-learn's wine data")
        _answer(
            prepared, outputs, quiet, confidence,
            k_max=k_max, method=method, rule=rule, random_state=seed, n_jobs=jobs,
        )  # fmt: skip


@app.command()
def compare(
    file: options.File,
    columns: options.Columns = None,
    drop: options.Drop = None,
    id_column: options.Id = None,
    encode: options.Encode = False,
    missing: options.Missing = None,
    scale: options.Scale = "standard",
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
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    json_file: options.Json = None,
    plot: options.Plot = None,
    force: options.Force = False,
) -> None:
    """Ask every criterion how many clusters there are in a table.

    Example: edfkmeans compare customers.csv --criterion bic --criterion gap
    """
    from edfkmeans.cli.outputs import Outputs, about
    from edfkmeans.comparison import compare

    outputs = Outputs(json=json_file, plot=plot, force=force)
    if truth is not None and truth == id_column:
        _stop(f"--truth {truth!r} is the --id column too. Name another one.")
    with _told():
        outputs.check(file)
        prepared, grouping = _read(
            file,
            truth,
            columns=columns,
            drop=drop,
            id_column=id_column,
            encode=encode,
            missing=missing,
            scale=scale,
        )
        found = compare(
            prepared.X,
            [name.lower() for name in criteria] if criteria else "all",
            k_max=k_max,
            labels=grouping,
            random_state=seed,
            n_jobs=jobs,
            progress=sys.stderr.isatty(),
        )
    table = found.table.reset_index().astype(object)
    lines = table.where(table.notna(), None).to_dict("records")
    content = about(prepared, seed) | {"criteria": lines}
    with _room():
        places = outputs.write_comparison(content, lambda: found.plot()[0].figure)
    _tell(outputs, places)
    if not outputs.to_stdout:
        with _written(outputs):
            from edfkmeans.cli.terminal import show_comparison

            show_comparison(found, prepared)


@app.command()
def simulate(
    scheme: options.Scheme,
    k: Annotated[int, typer.Option(min=2, help="Number of clusters.")] = 5,
    d: Annotated[int, typer.Option(min=1, help="Number of columns.")] = 5,
    n: Annotated[int, typer.Option(min=2, help="Number of rows.")] = 1000,
    seed: options.Seed = 0,
    output: Annotated[
        Path, typer.Option(help="The CSV file to write; - for standard output.")
    ] = Path("-"),
    force: options.Force = False,
) -> None:
    """Draw a data set whose clusters are known, as in the paper's simulations.

    Example: edfkmeans simulate long-tails --k 5 --d 10 --output simulated.csv
    """
    import pandas as pd

    from edfkmeans._atomic import place, temporary
    from edfkmeans.cli.outputs import check_output
    from edfkmeans.rows.arguments import check_one_of
    from edfkmeans.simulate import simulate as draw

    with _told():
        check_one_of("SCHEME", scheme, options.SCHEMES)
        if str(output) != "-":
            check_output(output, force)
        X, truth = draw(options.SCHEMES[scheme], k, d, n, random_state=seed)
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(d)]).assign(cluster=truth)
    if str(output) == "-":
        frame.to_csv(sys.stdout, index=False)
        return
    part = temporary(output)
    try:
        with _room():
            frame.to_csv(part, index=False)
            written = place(part, output, overwrite=force)
    finally:
        part.unlink(missing_ok=True)
    print(f"{n} rows in {k} clusters: {written} (the truth is in the column 'cluster').")


@app.command()
def info() -> None:
    """Tell the versions of what is installed, for a bug report.

    Example: edfkmeans info
    """
    import importlib.util
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
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # letters that a terminal lacks are no error
            stream.reconfigure(errors="replace")
    try:
        app()
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        # Whoever read has had enough, such as `| head`: for typer that is an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _check_rule(method: options.Method, rule: options.Rule) -> None:
    if method == "combined" and rule is not None:
        _stop(
            f"--rule {rule} is for --method paper and --method naive; the method combined "
            "has its own. Leave --rule out, or add --method paper."
        )


def _check_dask(
    labels: Path | None,
    encode: bool,
    missing: options.Missing,
    id_column: str | None,
    scale: options.Scale,
) -> None:
    """Refuse what is only done to rows in memory."""
    for option, given in (
        ("--encode", encode),
        ("--missing", missing is not None),
        ("--id", id_column is not None),
        ("--scale robust", scale == "robust"),
    ):
        if given:
            _stop(f"{option} is for rows in memory. Do it before, or leave --engine dask out.")
    if labels is not None and labels.suffix.lower() == ".csv":
        _stop(f"--labels {labels}: with --engine dask labels are Parquet. Name a .parquet folder.")


def _open(
    file: Path, columns: list[str] | None, drop: list[str] | None, scale: options.Scale
) -> "Prepared":
    """Open a file that need not fit in memory."""
    import pandas as pd

    from edfkmeans.cli.preparing import Prepared, chosen_columns
    from edfkmeans.engines.dask_files import open_lazily, scaled

    try:
        frame = open_lazily(file)
    except FileNotFoundError:
        _stop(f"There is no file {file}. Check the name and the folder.")
    if columns or drop:
        frame = chosen_columns(frame, columns, drop, None, str(file))
    ready = scaled(frame, scale, progress=sys.stderr.isatty())
    note = "standardised" if scale == "standard" else "as they are"
    return Prepared(
        X=ready.X,
        names=[str(name) for name in ready.names],
        offset=ready.offset,
        spread=ready.spread,
        ids=pd.Series(name="row", dtype=int),
        kept=pd.RangeIndex(0),
        source=_shown(str(file)),
        notes=(f"Columns {note} (--scale {scale}).",),
    )


def _read(file: Path, truth: str | None = None, **how: Any) -> "tuple[Prepared, pd.Series | None]":
    """Read a file and prepare its rows; also a column with a known grouping."""
    from edfkmeans.cli.preparing import known_column, prepare
    from edfkmeans.cli.reading import read_file

    source = "standard input" if str(file) == "-" else _shown(str(file))
    grouping = None
    frame, notes = read_file(file, how.get("id_column"))
    if truth is not None:
        grouping = frame.pop(known_column(frame, truth, "--truth", source))
    prepared = prepare(frame, source, notes=notes, **how)
    return prepared, None if grouping is None else grouping.iloc[prepared.kept]


def _answer(
    prepared: "Prepared", outputs: "Outputs", quiet: bool, confidence: bool, **how: Any
) -> None:
    """Choose, write what is asked for, and show."""
    from edfkmeans.selection import select_k

    if quiet and outputs.json is None and outputs.report is None:
        confidence = False  # no one would see it
    selection = select_k(prepared.X, confidence=confidence, progress=sys.stderr.isatty(), **how)
    command = _shown(shlex.join(["edfkmeans", *sys.argv[1:]]))
    with _room():
        places = outputs.write(selection, prepared, how["random_state"], command)
    _tell(outputs, places)
    if outputs.to_stdout:
        return
    with _written(outputs):
        if quiet:
            print(selection.k)
            return
        from edfkmeans.cli.terminal import show_selection

        show_selection(selection, prepared)
        for name, file in places.items():
            print(f"Wrote the {name}: {file}")


def _shown(name: str) -> str:
    """Return a file's name as text: in a locale without its letters Python holds bytes instead."""
    return os.fsencode(name).decode(errors="replace")


def _tell(outputs: "Outputs", places: dict[str, Path]) -> None:
    """Say of files that could not bear the name asked for where they are."""
    for name, file in places.items():
        asked = outputs.named[name]
        if file != asked:
            print(
                f"{asked} appeared while this ran and was left alone: the {name} is in {file}.",
                file=sys.stderr,
            )


@contextmanager
def _told() -> Iterator[None]:
    """Turn what is wrong with a file or an option into a message."""
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        text = str(error).replace("k_max=", "--k-max ").replace("Lower k_max", "Lower --k-max")
        _stop(text)


@contextmanager
def _room() -> Iterator[None]:
    """Say of a full disk, or one that cannot be written to, that nothing was written."""
    try:
        yield
    except BrokenPipeError:  # whoever reads standard output has had enough
        raise
    except OSError as error:
        _stop(f"Nothing was written: {error.strerror or error}. Make room, or name another place.")


@contextmanager
def _written(outputs: "Outputs") -> Iterator[None]:
    """Say of an interrupt that comes after the files that they are there."""
    try:
        yield
    except SystemExit:
        if outputs.named:
            print("\nInterrupted; the files were written.", file=sys.stderr)
            raise typer.Exit(130) from None
        raise


def _stop(message: str) -> NoReturn:
    """Say what is wrong and leave with the exit code for bad input."""
    Console(stderr=True).print(message, style="red", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(2)
