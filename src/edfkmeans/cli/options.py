"""The options of the command line, which its commands share."""

from pathlib import Path
from typing import Annotated

import typer

from edfkmeans import _choices as choices

SCHEMES = {name.replace(" ", "-"): name for name in choices.SCHEMES}


File = Annotated[
    str,
    typer.Argument(
        help="CSV or TSV (.gz too), Excel, Parquet, Feather, NPY or NPZ; a folder or "
        "pattern of such files; an address like s3://bucket/table.parquet; - for standard input. "
        "Separator, encoding, header and decimal comma are found out."
    ),
]
Columns = Annotated[
    list[str] | None, typer.Option(help="Cluster by this column only; may be given more than once.")
]
Drop = Annotated[
    list[str] | None, typer.Option(help="Leave this column out; may be given more than once.")
]
Id = Annotated[str | None, typer.Option("--id", help="The column that names the rows.")]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        help="The column with the rows' weights: whole numbers count rows, others are importances.",
    ),
]
Encode = Annotated[
    bool,
    typer.Option(
        "--encode",
        help="Turn each value of a text column into a column of 0 and 1; two values make one.",
    ),
]
Dates = Annotated[
    bool, typer.Option("--dates", help="Turn columns of dates into days since 1970-01-01.")
]
Sheet = Annotated[str | None, typer.Option(help="The sheet of an Excel file, if not the first.")]
Log = Annotated[
    list[str] | None,
    typer.Option(
        help="Take the logarithm of this column first; may be given more than once. auto: of every "
        "column that is heavily skewed, or nearly so beside one that is."
    ),
]
Missing = Annotated[
    choices.Missing | None,
    typer.Option(help="Rows with missing values: leave them out, or fill them by mean or median."),
]
Scale = Annotated[
    choices.Scale | None,
    typer.Option(
        help="standard: mean 0 and variance 1; robust: by median and quartiles; log: the same as "
        "standard, but of logarithms; none: as they are. If not given: standard, or none with "
        "--metric cosine."
    ),
]
Metric = Annotated[
    choices.Metric,
    typer.Option(
        help="cosine: only the directions of rows count, as is usual for embeddings: every row is "
        "scaled to length one."
    ),
]
KMax = Annotated[
    int | None,
    typer.Option(min=1, help="Largest number of clusters; 30 if not given, fewer for few rows."),
]
K = Annotated[
    int | None,
    typer.Option(
        "--k",
        min=1,
        help="Your own number of clusters for labels, report and all; the evidence stays.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Same seed, same answer.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of threads; all cores if not given.")]
Method = Annotated[
    choices.Method,
    typer.Option(
        help="judge: the highest expected agreement, by a judge that has learned from simulated "
        "data; combined: local minima of the BIC, the silhouette decides; paper: the first local "
        "minimum; naive: the same with k d degrees of freedom."
    ),
]
Rule = Annotated[
    choices.Rule | None,
    typer.Option(
        help="For methods paper and naive. paper: the first valley; r-package: the same, but 1 "
        "where that has the lowest BIC; lowest: the lowest BIC."
    ),
]
Resample = Annotated[
    bool, typer.Option("--resample", help="Choose again on 20 random parts of the rows, too.")
]
Labels = Annotated[
    Path | None,
    typer.Option(
        help="Write id, cluster (0 .. k-1, the largest first) and ambiguity of every row, as CSV "
        "or (by its name) Parquet."
    ),
]
Table = Annotated[
    Path | None,
    typer.Option(
        help="Write the table itself with one more column, the cluster of every row, as CSV or (by "
        "its name) Parquet."
    ),
]
Json = Annotated[
    Path | None, typer.Option("--json", help="Write everything as JSON; - for standard output.")
]
Report = Annotated[Path | None, typer.Option(help="Write a report, one HTML file.")]
Model = Annotated[
    Path | None,
    typer.Option(help="Write columns, scaling and centres as JSON, for `edfkmeans assign`."),
]
Plot = Annotated[Path | None, typer.Option(help="Draw the curve: .png, .svg or .pdf.")]
Engine = Annotated[
    choices.Engine | None,
    typer.Option(
        help="memory: read the whole table; arrow: in a stream, for Parquet, CSV, TSV and Feather "
        "larger than memory, and folders of them; dask: chunk by chunk, by a cluster too, also for "
        "Zarr; spark: by Spark, also a table by its name; cuda: read the whole table, a GPU works "
        "on it. If not given: memory, or arrow for a "
        "table that takes more than a third of it."
    ),
]
Scheduler = Annotated[
    str | None, typer.Option(help="With --engine dask: a cluster's address, tcp://HOST:PORT.")
]
Master = Annotated[
    str | None,
    typer.Option(
        help="With --engine spark: what runs it, as of spark-submit, e.g. local[4] or "
        "spark://HOST:7077; sc://HOST for Spark Connect. If not given: as Spark is configured."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print the number of clusters only.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are already there.")]
Scheme = Annotated[str, typer.Argument(help=f"The kind of clusters: {', '.join(SCHEMES)}.")]
