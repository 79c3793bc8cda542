"""Spark's daemon for the tests: it loads the package once, before workers are forked from it.

Fresh workers that load numba each would take most of the time of the tests, and so would looking
for garbage among all that is loaded, which workers do after every task.
"""

import gc

import edfkmeans.engines.spark  # noqa: F401
from edfkmeans.fits import passes  # noqa: F401

if __name__ == "__main__":
    from pyspark.daemon import manager

    gc.freeze()
    manager()
