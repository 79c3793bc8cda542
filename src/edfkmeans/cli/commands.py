"""The command line: thin commands over the library."""

import io
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from edfkmeans._extras import needs

try:
    import rich  # noqa: F401 - what the commands print with
    import typer
    from typer.core import TyperCommand
except ImportError:  # pragma: no cover - depends on what is installed
    sys.exit(needs("The command line", "typer and rich", "cli"))

from edfkmeans import __version__
from edfkmeans.cli import options
from edfkmeans.cli.opening import check_streamed, connected, have_gpu, open_table, read_table
from edfkmeans.cli.running import (
    answer,
    check_rule,
    command_line,
    room_told,
    shown,
    stop,
    tell_places,
    told,
    usual_scale,
    written,
)


class _Command(TyperCommand):
    """A command that says how to name several columns or files, where they stand in a row."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        try:
            return list(super().parse_args(ctx, args))
        except Exception as error:  # a UsageError, of click or of the copy in newer typer
            if "unexpected extra argument" in getattr(error, "message", ""):
                error.message += (  # type: ignore[attr-defined]
                    ". Name several columns one by one: --log a --log b; of several files name the "
                    "folder, or a pattern in quotation marks."
                )
            raise


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
    threads = os.environ.get("NUMBA_NUM_THREADS", "")
    if re.fullmatch(r"\s*(-\d+|[+]?0+)\s*", threads):  # numba would end with a traceback
        stop(f"NUMBA_NUM_THREADS={threads} must be 1 or more. Correct it, or unset it.")


@app.command(cls=_Command)
def select(
    file: options.File,
    columns: options.Columns = None,
    drop: options.Drop = None,
    id_column: options.Id = None,
    weights: options.Weights = None,
    encode: options.Encode = False,
    dates: options.Dates = False,
    sheet: options.Sheet = None,
    missing: options.Missing = None,
    log: options.Log = None,
    scale: options.Scale = None,
    metric: options.Metric = "euclidean",
    k: options.K = None,
    k_max: options.KMax = None,
    method: options.Method = "judge",
    rule: options.Rule = None,
    resample: options.Resample = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    labels: options.Labels = None,
    json_file: options.Json = None,
    report: options.Report = None,
    plot: options.Plot = None,
    model: options.Model = None,
    table: options.Table = None,
    quiet: options.Quiet = False,
    force: options.Force = False,
    engine: options.Engine = None,
    scheduler: options.Scheduler = None,
    master: options.Master = None,
) -> None:
    """Choose the number of clusters for a table.

    Example: edfkmeans select customers.csv --id name --labels labels.csv --report report.html
    """
    from edfkmeans.cli.outputs import Outputs
    from edfkmeans.cli.size import engine_for
    from edfkmeans.cli.weights import check_named_once

    check_rule(method, rule)
    outputs = Outputs(labels, json_file, report, plot, model, table, force)
    how: dict[str, Any] = {"k_max": k_max, "method": method, "rule": rule, "metric": metric}
    how |= {"random_state": seed, "n_jobs": jobs}
    scale = scale or usual_scale(metric)
    with told(file, weights):
        outputs.check(Path(file))
        check_named_once(weights, columns, drop, id_column)
        engine, streamed = (engine, "") if engine else engine_for(file)
        if streamed:
            print(f"{shown(file)}: {streamed}", file=sys.stderr)
        if scheduler is not None and engine != "dask":
            stop(f"--scheduler {scheduler} is for --engine dask. Add that, or leave it out.")
        if master is not None and engine != "spark":
            stop(f"--master {master} is for --engine spark. Add that, or leave it out.")
        if engine == "cuda":
            have_gpu()
            how["engine"] = engine
        if engine in ("memory", "cuda"):
            prepared, _ = read_table(
                file,
                weights=weights,
                keep=table is not None,
                columns=columns,
                drop=drop,
                id_column=id_column,
                encode=encode,
                dates=dates,
                sheet=sheet,
                missing=missing,
                log=log,
                scale=scale,
            )
            answer(prepared, outputs, quiet, resample, k, **how)
            return
        check_streamed(
            engine, labels, scale,
            {"--encode": encode, "--dates": dates, "--sheet": sheet, "--missing": missing,
             "--log": log, "--id": None if engine == "spark" else id_column, "--table": table},
        )  # fmt: skip
        with connected(engine, scheduler or master):
            prepared = open_table(
                file, engine, columns, drop, scale, jobs, id_column, weights, streamed
            )
            answer(prepared, outputs, quiet, resample, k, **how)


@app.command()
def demo(
    k: options.K = None,
    k_max: options.KMax = None,
    method: options.Method = "judge",
    rule: options.Rule = None,
    resample: options.Resample = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    labels: options.Labels = None,
    json_file: options.Json = None,
    report: options.Report = None,
    plot: options.Plot = None,
    model: options.Model = None,
    quiet: options.Quiet = False,
    force: options.Force = False,
) -> None:
    """Choose the number of clusters for scikit-learn's wine data: 178 wines, 13 measurements.

    Example: edfkmeans demo --report report.html
    """
    from sklearn.datasets import load_wine

    from edfkmeans.cli.outputs import Outputs
    from edfkmeans.cli.preparing import prepare

    check_rule(method, rule)
    outputs = Outputs(labels, json_file, report, plot, model, force=force)
    with told():
        outputs.check()
        prepared = prepare(load_wine(as_frame=True).data, "scikit-learn's wine data")
        answer(
            prepared, outputs, quiet, resample, k,
            k_max=k_max, method=method, rule=rule, random_state=seed, n_jobs=jobs,
        )  # fmt: skip


@app.command(cls=_Command)
def compare(
    file: options.File,
    columns: options.Columns = None,
    drop: options.Drop = None,
    id_column: options.Id = None,
    weights: options.Weights = None,
    encode: options.Encode = False,
    dates: options.Dates = False,
    sheet: options.Sheet = None,
    missing: options.Missing = None,
    log: options.Log = None,
    scale: options.Scale = None,
    metric: options.Metric = "euclidean",
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
    report: options.Report = None,
    plot: options.Plot = None,
    force: options.Force = False,
) -> None:
    """Ask every criterion how many clusters there are in a table.

    Example: edfkmeans compare customers.csv --report criteria.html
    """
    from edfkmeans.cli.outputs import Outputs
    from edfkmeans.cli.weights import check_named_once
    from edfkmeans.comparison import compare

    outputs = Outputs(json=json_file, report=report, plot=plot, force=force)
    scale = scale or usual_scale(metric)
    if truth is not None and truth in (id_column, weights):
        other = "--id" if truth == id_column else "--weights"
        stop(f"--truth {truth!r} is the {other} column too. Name another one.")
    with told(file, weights):
        outputs.check(Path(file))
        check_named_once(weights, columns, drop, id_column)
        prepared, grouping = read_table(
            file,
            truth,
            weights=weights,
            columns=columns,
            drop=drop,
            id_column=id_column,
            encode=encode,
            dates=dates,
            sheet=sheet,
            missing=missing,
            log=log,
            scale=scale,
        )
        found = compare(
            prepared.X,
            [name.lower() for name in criteria] if criteria else "all",
            k_max=k_max,
            labels=grouping,
            metric=metric,
            sample_weight=prepared.weights,
            random_state=seed,
            n_jobs=jobs,
            progress=sys.stderr.isatty(),
        )
    with told(), room_told():
        places = outputs.write_comparison(found, prepared, seed, command_line())
    tell_places(outputs, places)
    if not outputs.to_stdout:
        with written(outputs):
            from edfkmeans.cli.terminal import show_comparison

            show_comparison(found, prepared)
            for name, place in places.items():
                print(f"Wrote the {name}: {place}")


@app.command()
def assign(
    model: Annotated[Path, typer.Argument(help="What `edfkmeans select --model` wrote.")],
    file: options.File,
    id_column: options.Id = None,
    sheet: options.Sheet = None,
    missing: Annotated[
        Literal["drop"] | None,
        typer.Option(help="Rows with missing values that the model does not fill: leave them out."),
    ] = None,
    labels: Annotated[
        Path,
        typer.Option(
            help="Write id, cluster and distance to its centre of every row, as CSV or (by its "
            "name) Parquet; - for CSV on standard output."
        ),
    ] = Path("-"),
    force: options.Force = False,
) -> None:
    """Give new rows to the clusters of a saved model.

    Example: edfkmeans assign customers.json new.csv --id name --labels new_labels.csv
    """
    from edfkmeans.cli.assigning import assigned
    from edfkmeans.cli.kept import write_rows
    from edfkmeans.cli.outputs import Outputs

    outputs = Outputs(labels=None if str(labels) == "-" else labels, force=force)
    with told():
        outputs.check(Path(file))
        rows, notes = assigned(model, file, id_column, sheet, missing)
    for note in notes:
        print(note, file=sys.stderr)
    if outputs.labels is None:
        write_rows(rows, sys.stdout)
        return
    with room_told():
        places = outputs.write_rows(rows)
    tell_places(outputs, places)
    with written(outputs):
        counts = rows.iloc[:, 1].value_counts().sort_index()
        listed = ", ".join(f"{count} in {cluster}" for cluster, count in counts.items())
        noun = "row" if len(rows) == 1 else "rows"
        print(f"{len(rows)} {noun} given to clusters: {listed}.")
        print(f"Wrote the labels: {places['labels']}")


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

    with told():
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
        with room_told():
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
    for name in (*names, "openpyxl", "dask", "polars", "duckdb", "pyspark"):
        there = importlib.util.find_spec({"scikit-learn": "sklearn"}.get(name, name))
        lines.append((name, metadata.version(name) if there else "not installed"))
    for name, value in lines:
        print(f"{name:<14}{value}")


def main() -> None:
    """Run the command line."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this
            nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until this ends
            setattr(sys, name, nowhere)
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
