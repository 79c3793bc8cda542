"""The words that parameters take. The command line offers them too: nothing heavy is imported."""

from typing import Literal, get_args

Method = Literal["judge", "combined", "paper", "naive"]
METHODS: tuple[Method, ...] = get_args(Method)

Rule = Literal["paper", "r-package", "lowest"]
RULES: tuple[Rule, ...] = get_args(Rule)

Fits = Literal["best", "paper"]
FITS: tuple[Fits, ...] = get_args(Fits)

Metric = Literal["euclidean", "cosine"]
METRICS: tuple[Metric, ...] = get_args(Metric)

Count = Literal["paper", "exact", "bootstrap"]
COUNTS: tuple[Count, ...] = get_args(Count)

Box = Literal["principal", "plain"]
BOXES: tuple[Box, ...] = get_args(Box)

Engine = Literal["memory", "arrow", "dask", "spark", "cuda"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

# What rows in memory can be brought to.
Brought = Literal["cuda"]
BROUGHT: tuple[Brought, ...] = get_args(Brought)

Scale = Literal["standard", "robust", "log", "none"]
SCALES: tuple[Scale, ...] = get_args(Scale)

Missing = Literal["drop", "mean", "median"]
MISSING: tuple[Missing, ...] = get_args(Missing)

Scheme = Literal[
    "assumptions met", "scale varies", "shape varies", "long tails", "uniform", "non-convex"
]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
