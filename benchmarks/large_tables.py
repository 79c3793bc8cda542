"""The tables of docs/large_data.md, made from the results of large.py."""

import pandas as pd
from common import RESULTS

# The largest k of every measurement.
K_MAX = 15
# For every engine what X is, and when to use it.
WHEN = {
    "memory": ("an array or data frame", "the rows fit in memory three times over"),
    "arrow": (
        "a `pyarrow` dataset, a polars LazyFrame, a DuckDB relation, a function that gives batches",
        "they do not, and lie in files that this machine can read",
    ),
    "dask": ("a dask array or data frame", "several machines are to share the work; Zarr"),
    "spark": ("a `pyspark` DataFrame, a `Table` of one", "the rows are in Spark already"),
}


def tables() -> dict[str, str]:
    """Make the tables of docs/large_data.md from the results."""

    def read(name):
        return pd.read_csv(RESULTS / f"{name}.csv", comment="#")

    whens = [
        "| engine | X | when | rows | time | of processors | peak memory |",
        "|---|---|---|---|---|---|---|",
    ]
    files = [file.stem for file in RESULTS.glob("large_engines_*.csv")]
    every = pd.concat([read(name) for name in files]).sort_values(["n", "seconds"])
    measured = every.drop_duplicates(["engine", "n"])  # the quicker of two runs
    for name, (what, when) in WHEN.items():
        for row in measured[measured["engine"] == name].itertuples():
            whens.append(
                f"| {name} | {what} | {when} | {row.n:,} | {row.seconds:.0f} s "
                f"| {row.processor_seconds:.0f} s | {row.peak_mb:.0f} MB |"
            )
            what = when = ""

    lines = [
        "| rows | data | time | of it: passes, degrees of freedom | peak, both workers | caller |",
        "|---|---|---|---|---|---|",
    ]
    for row in read("large").itertuples():
        lines.append(
            f"| {row.n:,} | {row.data_mb:.0f} MB | {row.seconds:.0f} s "
            f"| {row.seconds_refining:.0f} s, {row.seconds_dof:.0f} s "
            f"| {row.peak_mb_workers:.0f} of {row.limit_mb:.0f} MB | {row.peak_mb_caller:.0f} MB |"
        )
    grown = "\n".join(lines)

    table = read("large_peers")
    first = table.iloc[0]
    lines = [
        "| k | ours: reported, recomputed | dask-ml: reported | recomputed | above ours |",
        "|---|---|---|---|---|",
    ]
    for row in table.itertuples():
        lines.append(
            f"| {row.k} | {row.inertia_edfkmeans:.5g}, {row.recomputed_edfkmeans:.5g} "
            f"| {row.inertia_dask_ml:.5g} | {row.recomputed_dask_ml:.5g} "
            f"| {row.above_ours_percent:.1f} % |"
        )
    lines += [
        "",
        f"Time: `fit_path` took {first.seconds_edfkmeans_all_k_before:.0f} s for all k = 1 .. "
        f"{K_MAX + 1} before, and {first.seconds_edfkmeans_all_k_after:.0f} s after dask-ml's "
        f"{first.seconds_dask_ml_these_k:.0f} s for these {len(table)} k, "
        f"{int(first.passes)} passes each.",
    ]
    beside = "\n".join(lines)

    lines = ["| data | rows x columns | k up to | mean | worst |", "|---|---|---|---|---|"]
    for row in read("large_loss").itertuples():
        lines.append(
            f"| {row.data} | {row.n:,} x {row.d} | {row.k_last} | {_percent(row.mean_percent)} "
            f"| {_percent(row.worst_percent)} |"
        )
    spark = [
        read(name) if (RESULTS / f"{name}.csv").exists() else None
        for name in ("large_spark", "large_mllib")
    ]
    own = {"engines": "\n".join(whens), "grow": grown, "peers": beside, "loss": "\n".join(lines)}
    return own | _spark_tables(*spark)


def _percent(value: float) -> str:
    return f"{max(value, 0.0) + 0.0:.2f} %"


def _spark_tables(grown: pd.DataFrame | None, beside: pd.DataFrame | None) -> dict[str, str]:
    """Make the tables about Spark; what was not measured says so."""
    lines = [
        "| rows | data | time | peak, Java and its workers | caller |",
        "|---|---|---|---|---|",
    ]
    if grown is None:
        lines.append("| not measured | | | | |")
    else:
        for row in grown.itertuples():
            lines.append(
                f"| {row.n:,} | {row.data_mb:.0f} MB | {row.seconds:.0f} s "
                f"| {row.peak_mb_java_and_workers:.0f} MB | {row.peak_mb_caller:.0f} MB |"
            )
    tables = {"spark": "\n".join(lines)}
    lines = ["| k | ours, recomputed | MLlib's, recomputed | above ours |", "|---|---|---|---|"]
    if beside is None:
        lines.append("| not measured | | | |")
    else:
        for row in beside.itertuples():
            above = 100 * row.recomputed_mllib / row.recomputed_edfkmeans - 100
            lines.append(
                f"| {row.k} | {row.recomputed_edfkmeans:.5g} | {row.recomputed_mllib:.5g} "
                f"| {above:.1f} % |"
            )
        one = beside.iloc[0]
        lines += [
            "",
            f"Time for {int(one.n):,} rows: `select_k` took {one.seconds_edfkmeans_before:.0f} s "
            f"before, and {one.seconds_edfkmeans_after:.0f} s after MLlib's "
            f"{one.seconds_mllib_these_k:.0f} s for these {len(beside)} k.",
        ]
        if "seconds_compare" in beside:
            times = one.seconds_mllib_these_k / one.seconds_compare
            most = (beside["inertia_compare"] / beside["inertia_mllib"] - 1).max()
            lines.append(
                f"Asked what MLlib is asked, fits and silhouettes and no more, we took "
                f"{one.seconds_compare:.0f} s (`compare(frame, ['silhouette'], k_max=16)`): MLlib "
                f"takes {times:.1f} times as long, at an inertia that is nowhere lower "
                f"(ours above by {_percent(100 * most)} at most)."
            )
    tables["mllib"] = "\n".join(lines)
    return tables
