"""New rows of a file, given to the clusters of a saved model."""

import re
from pathlib import Path

import pandas as pd

from edfkmeans.cli.columns import label_columns
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.reading import read_file
from edfkmeans.cli.row_names import row_name, row_names
from edfkmeans.model import Model
from edfkmeans.rows.arguments import counted, some


def assigned(
    model_file: Path, file: str, id_column: str | None, sheet: str | None, missing: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """Return id, cluster and distance of every row, and what to know about it, in words."""
    model = Model.load(model_file)
    source = "standard input" if file == "-" else file
    words = [each.name for each in model.inputs if "None" in each.values]
    frame, notes = read_file(file, id_column, sheet, words)
    if frame.empty:
        raise BadFileError(f"{source} has a header but no rows. Give at least one.")
    told = list(notes)
    rest, ids = row_names(frame, id_column, source, told)
    frame = frame.reset_index(drop=True)
    needed = [each.name for each in model.inputs]
    unused = [str(name) for name in rest.columns if name not in (*needed, id_column)]
    if unused and set(needed) <= set(frame.columns):
        told.append(f"Not looked at, as the model has no such columns: {some(unused)}.")
    if missing == "drop":
        frame = model.without_gaps(frame)
        if len(frame) < len(ids):
            told.append(f"{counted(len(ids) - len(frame), 'row')} with missing values left out.")
    try:
        found = model.assign(frame)
    except ValueError as error:
        text = str(error).replace("X has", f"{source} has", 1)
        text = text.replace("leave those rows out.", "leave those rows out with --missing drop.")
        left = ids.loc[frame.index]
        text = re.sub(r"row (\d+), counted from 0", lambda row: row_name(left, int(row[1])), text)
        raise BadFileError(text) from None
    cluster = label_columns(ids.name)[0]
    columns = {str(ids.name): ids.loc[frame.index], cluster: found["cluster"]}
    distance = "edfkmeans_distance" if ids.name == "distance" else "distance"
    return pd.DataFrame(columns | {distance: found["distance"]}).reset_index(drop=True), told
