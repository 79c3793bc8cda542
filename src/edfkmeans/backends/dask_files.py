"""The former place of `edfkmeans.engines.dask_files`, which programs may still name."""

from edfkmeans.engines.dask_files import Scaled, connected, open_lazily, scaled, write_labels

__all__ = ["Scaled", "connected", "open_lazily", "scaled", "write_labels"]
