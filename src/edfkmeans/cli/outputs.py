"""Outputs: the files that a command is to write, checked before the work and written after it."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pandas as pd

from edfkmeans._atomic import behind, check_file, place, temporary
from edfkmeans.cli.columns import label_columns
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.kept import write_rows
from edfkmeans.cli.preparing import Prepared
from edfkmeans.comparison import Comparison
from edfkmeans.engines import in_memory, write_labels
from edfkmeans.model import Model
from edfkmeans.profiles import describe
from edfkmeans.selection import Selection
from edfkmeans.soundness import Soundness, assess_several, worth_a_look

# The version of the JSON; it grows when a name in it changes.
SCHEMA = 2
_PICTURES = (".png", ".svg", ".pdf")
_TABLES = (".csv", ".parquet", ".pq")


@dataclass(frozen=True)
class Outputs:
    """Files to write; None for those not asked for, ``-`` for standard output (JSON only)."""

    labels: Path | None = None
    json: Path | None = None
    report: Path | None = None
    plot: Path | None = None
    model: Path | None = None
    table: Path | None = None
    force: bool = False
    """Whether files that are there may be overwritten."""

    @property
    def named(self) -> dict[str, Path]:
        """What is asked for, by the name of the option."""
        options = {"labels": self.labels, "json": self.json, "report": self.report}
        options |= {"plot": self.plot, "model": self.model, "table": self.table}
        return {name: file for name, file in options.items() if file is not None}

    @property
    def to_stdout(self) -> bool:
        """Whether standard output belongs to the JSON."""
        return str(self.json) == "-"

    def check(self, source: Path | None = None) -> None:
        """Refuse before the work what could not be written after it."""
        for name, named in self.named.items():
            if str(named) == "-" and name != "json":
                raise BadFileError(
                    f"--{name} -: only JSON goes to standard output (--json -). Name a file."
                )
        for option, file in (("--labels", self.labels), ("--table", self.table)):
            if file is not None and file.suffix.lower() not in _TABLES:
                raise BadFileError(
                    f"{option} {file}: name a file that ends in {', '.join(_TABLES)}."
                )
        files = [file for name, file in self.named.items() if (name, str(file)) != ("json", "-")]
        for file in files:
            check_output(file, self.force, source)
            if sum(_same_place(file, other) for other in files) > 1:
                raise BadFileError(f"{file} is named for two outputs. Give each a name of its own.")
        if self.plot is not None and self.plot.suffix.lower() not in _PICTURES:
            raise BadFileError(
                f"--plot {self.plot}: the picture's kind is not known. Name a .png, .svg or .pdf "
                "file."
            )

    def write(
        self, selection: Selection, prepared: Prepared, seed: int, command: str
    ) -> dict[str, Path]:
        """Write what is asked for, all files, each whole, or none; returns where each one is."""
        with self._parts() as (parts, places):
            shown = None
            if parts.report is not None or parts.json is not None:
                shown = Shown.of(selection, prepared, seed)
            if shown is not None and parts.report is not None:
                _write_report(parts.report, shown, prepared, command)
            if parts.labels is not None:
                _write_labels(parts.labels, selection, prepared)
            if parts.table is not None:
                assert prepared.table is not None
                prepared.table.write(parts.table, selection.labels)
            if parts.model is not None:
                text = _model(selection, prepared).to_json()
                parts.model.write_text(text, encoding="utf-8")
            content = about(prepared, seed) | selection.to_dict()
            if shown is not None:
                content |= shown.to_dict(prepared)
            parts._write_plot_and_json(lambda: selection.plot().figure, content)
        return places

    def write_comparison(
        self, comparison: Comparison, prepared: Prepared, seed: int, command: str
    ) -> dict[str, Path]:
        """Write what is asked for of a comparison, as `write` does."""
        table = comparison.table.reset_index().astype(object)
        remarks = list(prepared.remarks or ())
        content = about(prepared, seed) | {
            "remarks": remarks,
            "summary": comparison.summary,
            "meaning": list(comparison.meaning),
            "criteria": table.where(table.notna(), None).to_dict("records"),
        }
        with self._parts() as (parts, places):
            if parts.report is not None:
                comparison.to_html(
                    parts.report,
                    title=f"How many clusters in {prepared.source}? Every criterion",
                    remarks=remarks,
                    notes=prepared.notes,
                    command=command,
                )
            parts._write_plot_and_json(lambda: comparison.plot()[0].figure, content)
        return places

    def write_rows(self, frame: pd.DataFrame) -> dict[str, Path]:
        """Write labels that are a table already, as `write` does."""
        with self._parts() as (parts, places):
            assert parts.labels is not None
            write_rows(frame, parts.labels)
        return places

    @contextmanager
    def _parts(self) -> Iterator[tuple[Self, dict[str, Path]]]:
        """Give temporary files, which get the names asked for if all goes well."""
        parts: dict[str, Any] = {}
        places: dict[str, Path] = {}
        try:
            for name, file in self.named.items():
                if (name, str(file)) != ("json", "-"):
                    parts[name] = temporary(file)
            yield replace(self, **parts), places
            for name, part in parts.items():
                places[name] = place(part, self.named[name], overwrite=self.force)
        finally:
            for part in parts.values():
                if part.is_dir():
                    shutil.rmtree(part, ignore_errors=True)
                part.unlink(missing_ok=True)

    def _write_plot_and_json(self, figure: Callable[[], Any], content: dict[str, Any]) -> None:
        if self.plot is not None:
            figure().savefig(self.plot, dpi=150)
        if self.json is not None:
            plain = self.to_stdout and "utf" not in (sys.stdout.encoding or "").lower()
            text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=plain) + "\n"
            if self.to_stdout:
                sys.stdout.write(text)
            else:
                self.json.write_text(text, encoding="utf-8")


def check_output(file: Path, force: bool, source: Path | None = None) -> None:
    """Refuse a file that cannot or should not be written."""
    if file == Path():
        raise BadFileError("The name of a file to write is empty, or a dot. Name a file.")
    try:
        check_file(file)
    except ValueError as error:
        raise BadFileError(str(error)) from None
    try:
        temporary(file).unlink()  # the name that it is written under is longer than its own
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise BadFileError(f"{file} is too long a name for a file. Shorten it.") from None
    if not file.parent.is_dir():
        raise BadFileError(
            f"There is no folder {file.parent} to write {file.name} to. Make it first."
        )
    if source is not None and os.path.exists(source) and file.exists() and file.samefile(source):
        raise BadFileError(f"{file} is the table itself. Name another file to write to.")
    if os.path.lexists(file) and not force:  # a link to nothing, too
        raise BadFileError(
            f"{file} is there already. Name another file, or overwrite it with --force."
        )
    folder = behind(file).parent
    if not os.access(folder, os.W_OK):
        raise BadFileError(f"Nothing can be written to the folder {folder}. Name another one.")


def _same_place(file: Path, other: Path) -> bool:
    """Whether two names, however they are spelled, are of one file."""
    if os.path.normcase(os.path.realpath(file)) == os.path.normcase(os.path.realpath(other)):
        return True
    # A file system may take capitals for the same.
    there = os.path.exists(file) and os.path.exists(other)
    return there and os.path.samefile(file, other)


def about(prepared: Prepared, seed: int) -> dict[str, Any]:
    """Tell in the JSON what was looked at, and with which version."""
    from edfkmeans import __version__

    scaling = prepared.scaling
    return {
        "schema": SCHEMA,
        "edfkmeans": __version__,
        "source": prepared.source,
        "columns": prepared.names,
        "log": [None if each != each else each for each in scaling.shift.tolist()],
        "offset": scaling.offset.tolist(),
        "spread": scaling.spread.tolist(),
        "notes": list(prepared.notes),
        "seed": seed,
    }


def _model(selection: Selection, prepared: Prepared) -> Model:
    scaling = prepared.scaling
    return Model.of(
        selection,
        offset=scaling.offset,
        spread=scaling.spread,
        shift=scaling.shift,
        fill=prepared.fill,
        inputs=prepared.inputs,
    )


def _write_labels(file: Path, selection: Selection, prepared: Prepared) -> None:
    if not in_memory(selection.labels):
        file.unlink()  # a folder takes its place
        write_labels(selection.labels, file)
        return
    cluster, ambiguity = label_columns(prepared.ids.name)
    columns = {str(prepared.ids.name): prepared.ids, cluster: selection.labels}
    write_rows(pd.DataFrame(columns | {ambiguity: selection.ambiguity}), file)


@dataclass(frozen=True)
class Shown:
    """What is shown of a selection: all rows, or the sample where they are elsewhere."""

    selection: Selection
    X: Any
    ids: pd.Series
    soundness: dict[int, Soundness]
    n_rows: int
    """Rows in all."""

    @classmethod
    def of(cls, selection: Selection, prepared: Prepared, seed: int) -> "Shown":
        """Look closely at the clusters: report and JSON tell the same of them."""
        X, ids, n_rows = prepared.X, prepared.ids, selection.path.n_rows
        if selection.path.kept_rows is not None:
            selection, rows = selection.sample()
            X, ids = rows.to_numpy(), rows.index.to_series()
            if rows.index.name is None:
                ids = ids + 1  # numbers, which people count from 1
        soundness = assess_several(
            selection, X, worth_a_look(selection), random_state=seed, progress=sys.stderr.isatty()
        )
        return cls(selection, X, ids, soundness, n_rows)

    def to_dict(self, prepared: Prepared) -> dict[str, Any]:
        """Return what makes the clusters differ, and how sound they are, ready for JSON."""
        selection = self.selection
        restore = prepared.restore(selection.path.metric)
        profiles = describe(selection, self.X, names=prepared.names, restore=restore)
        sound = self.soundness[selection.k].to_dict()
        return {"profiles": profiles.to_dict(), "soundness": sound}


def _write_report(file: Path, shown: Shown, prepared: Prepared, command: str) -> None:
    notes = list(prepared.notes)
    if len(shown.X) < shown.n_rows:
        notes.append(f"Sizes, means and rows shown are those of a sample of {len(shown.X):,} rows.")
    restore = prepared.restore(shown.selection.path.metric)
    shown.selection.to_html(
        file,
        shown.X,
        names=prepared.names,
        ids=shown.ids,
        restore=restore,
        title=f"How many clusters in {prepared.source}?",
        notes=notes,
        command=command,
        n_rows=shown.n_rows,
        soundness=shown.soundness,
        dates=() if restore is None else prepared.dates,
    )
