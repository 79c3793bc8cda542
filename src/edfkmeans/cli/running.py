"""What the commands share: answering, writing, and words for what goes wrong."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console

from edfkmeans import _choices as choices
from edfkmeans._signals import ignore
from edfkmeans.cli import options
from edfkmeans.cli.errors import BadFileError
from edfkmeans.rows.arguments import counted

if TYPE_CHECKING:
    from edfkmeans.cli.outputs import Outputs
    from edfkmeans.cli.preparing import Prepared


def check_rule(method: options.Method, rule: options.Rule) -> None:
    """Refuse a rule for a method that has its own."""
    if method not in ("paper", "naive") and rule is not None:
        stop(
            f"--rule {rule} is for --method paper and --method naive; the method {method} "
            "has its own. Leave --rule out, or add --method paper."
        )


def usual_scale(metric: choices.Metric) -> choices.Scale:
    """Return how columns are scaled unless told: those of directions are left as they are."""
    return "none" if metric == "cosine" else "standard"


def answer(
    prepared: "Prepared",
    outputs: "Outputs",
    quiet: bool,
    resample: bool,
    k: int | None = None,
    **how: Any,
) -> None:
    """Choose, or take the k that is asked for, write what is asked for, and show."""
    from edfkmeans.cli.remedies import REMEDIES
    from edfkmeans.cli.row_names import row_name
    from edfkmeans.fits.search import DEFAULT_K_MAX
    from edfkmeans.rows.findings import remarks_of
    from edfkmeans.selection import select_k

    if k is not None and how["k_max"] is not None and k > how["k_max"]:
        stop(f"--k {k} is more than --k-max {how['k_max']}. Raise --k-max, or lower --k.")
    if k is not None and how["k_max"] is None and k > DEFAULT_K_MAX:
        how["k_max"] = k
    if quiet and outputs.json is None and outputs.report is None:
        resample = False  # no one would see it
    own_bound = k is not None and how["k_max"] in (None, k)
    choose = partial(
        select_k, prepared.X, resample=resample, progress=sys.stderr.isatty(),
        sample_weight=prepared.weights, **how,
    )  # fmt: skip
    with told_of_k() if own_bound else nullcontext(), columns_named(prepared.names):
        selection = choose()
        if k is not None and own_bound and k > selection.k_max:  # few rows have a lower bound
            selection = choose(k_max=k)
    if k is not None:
        # Rows that are elsewhere have been kept, and need not be looked at again.
        kept = selection.path.kept_rows is not None
        selection = selection.with_k(k, None if kept else prepared.X)
    remarks = prepared.remarks
    if remarks is None:
        remarks = remarks_of(selection.findings, prepared.names, REMEDIES)
    if selection.path.metric == "cosine":
        prepared = replace(prepared, notes=(*prepared.notes, *selection.path.notes))
        remarks = selection.column_remarks
    selection = replace(
        selection,
        columns=tuple(prepared.names),
        column_remarks=remarks,
        row_name=partial(row_name, prepared.ids),
    )
    with room_told():
        places = outputs.write(selection, prepared, how["random_state"], command_line())
    tell_places(outputs, places)
    if outputs.to_stdout:
        return
    with written(outputs):
        if quiet:
            print(selection.k)
            return
        from edfkmeans.cli.terminal import show_selection

        show_selection(selection, prepared, places.get("report"))
        for name, file in places.items():
            print(f"Wrote the {name}: {file}{_of_rows(name, prepared)}")


def _of_rows(name: str, prepared: "Prepared") -> str:
    """Say of a file of rows how many are not in it, and where the clusters are if not as usual."""
    if name not in ("labels", "table"):
        return ""
    said = []
    table = prepared.table
    if name == "table" and table is not None and table.cluster != "cluster":
        said.append(f"the clusters are in the column {table.cluster!r}")
    if prepared.left_out:
        rows = f"{prepared.left_out} rows" if prepared.left_out > 1 else "1 row"
        said.append(
            f"{rows} with missing values {'are' if prepared.left_out > 1 else 'is'} not in it"
        )
    return f" ({'; '.join(said)})" if said else ""


def command_line() -> str:
    """Return the command that is running, to be given again."""
    return shown(shlex.join(["edfkmeans", *sys.argv[1:]]))


def shown(name: str) -> str:
    """Return a file's name as text: in a locale without its letters Python holds bytes instead."""
    return os.fsencode(name).decode(errors="replace")


def tell_places(outputs: "Outputs", places: dict[str, Path]) -> None:
    """Say of files that could not bear the name asked for where they are."""
    for name, file in places.items():
        asked = outputs.named[name]
        if file != asked:
            print(
                f"{asked} appeared while this ran and was left alone: the {name} is in {file}.",
                file=sys.stderr,
            )


@contextmanager
def told(file: str | None = None, weights: str | None = None) -> Iterator[None]:
    """Turn what is wrong with a file or an option into a message."""
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        text = str(error).replace("k_max=", "--k-max ").replace("Lower k_max", "Lower --k-max")
        if not isinstance(error, BadFileError):  # what the library calls X
            from edfkmeans.cli.remedies import in_options

            text = in_options(text, file or "").replace("Input X ", "X ")
            text = re.sub(r"^sample_weight\b", "The column of --weights", text)
            text = re.sub(r", e\.g\. X\[\S+,", "", text)  # code is of no use here
            text = re.sub(r"(?<![\w'])X(?![\w'])", "the table", text)
            text = re.sub(r"^the table", "The table", text)
        few = re.match(r"n_samples=(\d+), but at least (\d+) rows ", text)
        if few is not None and file is not None:
            own = "" if weights is None else f" with {weights!r} above 0"
            has = f"{shown(file)} has {counted(int(few[1]), 'row')}{own}"
            text = f"{has}, but at least {few[2]} {text[few.end() :]}"
        stop(text)


@contextmanager
def columns_named(names: list[str]) -> Iterator[None]:
    """Name the column of values that are not finite, where an engine has its number only."""
    try:
        yield
    except ValueError as error:
        from edfkmeans.rows.checks import NotFiniteError, raise_bad

        if isinstance(error, NotFiniteError):
            raise_bad(error.bad, names)
        raise


@contextmanager
def told_of_k() -> Iterator[None]:
    """Name the option that was given where more clusters are asked for than the rows allow."""
    try:
        yield
    except ValueError as error:
        text = str(error).replace("k_max=", "--k ").replace("Lower k_max", "Lower --k")
        text = text.replace(
            "distinct rows;", "distinct rows, as a fit of one cluster more is needed;"
        )
        raise ValueError(text) from None


@contextmanager
def room_told() -> Iterator[None]:
    """Say of a full disk, or one that cannot be written to, that nothing was written."""
    try:
        yield
    except BrokenPipeError:  # whoever reads standard output has had enough
        raise
    except OSError as error:
        stop(f"Nothing was written: {error.strerror or error}. Make room, or name another place.")


@contextmanager
def written(outputs: "Outputs") -> Iterator[None]:
    """Say of what goes wrong after the files were written that they are there."""
    there = " The files were written." if outputs.named else ""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads standard output has had enough
        raise
    except OSError as error:
        sys.stdout = None  # else Python tries again as it ends
        stop(f"Standard output could not be written to: {error.strerror or error}.{there}")
    except SystemExit as end:
        # rich turns a broken pipe into an exit.
        if outputs.named and not isinstance(end.__context__, BrokenPipeError):
            ignore()
            print("\nInterrupted; the files were written.", file=sys.stderr)
            raise typer.Exit(int(str(end.code))) from None
        raise


def stop(message: str) -> NoReturn:
    """Say what is wrong and leave with the exit code for bad input."""
    Console(stderr=True).print(message, style="red", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(2)
