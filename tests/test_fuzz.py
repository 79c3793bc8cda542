"""Anything at all as input: an answer, or an error that says what is wrong."""

import gzip
import io
import os
import subprocess
import sys
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, scalar_dtypes

from edfkmeans import KMeansPath, compare, degrees_of_freedom, fit_path, score, select_k
from edfkmeans._choices import MISSING, SCALES
from edfkmeans.cli.preparing import prepare
from edfkmeans.cli.reading import BadFileError, read_file
from edfkmeans.criteria import registered
from edfkmeans.criteria.separation import silhouettes
from edfkmeans.structure import find_structure, unimodal_heights

in_a_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
few = settings(max_examples=settings.default.max_examples // 2)


def read(folder, content, **options):
    """Read and prepare a file of some bytes; only errors that are meant may come out."""
    file = folder / "table"
    file.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            frame, notes = read_file(file)
            ready = prepare(frame, "table", notes=notes, **options)
        except BadFileError as error:
            found = str(error)
        else:
            assert ready.X.shape == (len(ready.ids), len(ready.names))
            assert np.isfinite(ready.X).all()
            return ready
    assert len(found) > 20
    return None


@in_a_folder
@given(st.binary(max_size=300))
@example(b"\xef\xbb\xbf")
@example(b"\xc2\x85")
@example(b"a,b\r1,2\r3,4\r")
@example(b"a,b\n" + b"x" * 200_000 + b",1\n")
@example(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xff\xff")
@example(b"PK\x03\x04.npy")
@example(b"\x93NUMPY\x01\x00\xff\xff")
@example(b"PAR1PAR1")
@example(b"ARROW1\x00\x00")
@example(b"\t\nx\t3\ty\nz\t1\n")
def test_any_bytes(tmp_path, content):
    read(tmp_path, content)


def test_a_first_line_of_tabs_is_no_header(tmp_path):
    assert read(tmp_path, b"\t\n \n\ta\tb\n0\t1\t2\n1\t3\t4\n", scale="none").names == ["a", "b"]


FIELDS = st.one_of(
    st.sampled_from(
        ["", " ", "1", "2.5", "1,5", "-3e8", "nan", "inf", "1e400", "5e-324", "NA", "x"]
    ),
    st.sampled_from(["9" * 30, "True", '"a', "'", "1.797e308", "-1.797e308", "0x10", "١", "—"]),
    st.text(max_size=4),
    st.floats().map(repr),
)


@in_a_folder
@given(
    st.lists(st.lists(FIELDS, min_size=1, max_size=4), min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t", "|", " "]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.booleans(),
    st.sampled_from([None, *MISSING]),
    st.sampled_from(SCALES),
)
def test_any_text(tmp_path, rows, separator, newline, encoding, encode, missing, scale):
    text = newline.join(separator.join(row) for row in rows)
    content = text.encode(encoding, errors="replace")
    read(tmp_path, content, encode=encode, missing=missing, scale=scale)


@pytest.mark.parametrize("encode", [False, True])
def test_lists_in_a_column_are_refused(tmp_path, encode):
    stream = io.BytesIO()
    pd.DataFrame({"a": [[1], [2], []], "b": [1.0, 2.0, 4.0]}).to_parquet(stream)
    assert read(tmp_path, stream.getvalue(), encode=encode) is None


def test_decimals_are_numbers(tmp_path):
    stream = io.BytesIO()
    pd.DataFrame({"a": [Decimal("1.5"), None, Decimal("2.5")], "b": [1, 2, 4]}).to_parquet(stream)
    ready = read(tmp_path, stream.getvalue(), missing="drop", scale="none")
    assert ready.X.tolist() == [[1.5, 1.0], [2.5, 4.0]]


def files():
    """A small table in every format that is read."""
    frame = pd.DataFrame({"a": [1.5, 2.0, 4.0], "b": [3, 1, 2], "c": ["x", "y", "x"]})
    stream = {name: io.BytesIO() for name in ("parquet", "feather", "npy", "npz")}
    frame.to_parquet(stream["parquet"])
    frame.to_feather(stream["feather"])
    np.save(stream["npy"], frame[["a", "b"]].to_numpy())
    np.savez_compressed(stream["npz"], X=frame[["a", "b"]].to_numpy())
    text = frame.to_csv(index=False).encode()
    whole = {name: each.getvalue() for name, each in stream.items()}
    return whole | {"csv": text, "csv.gz": gzip.compress(text, mtime=0)}


FILES = files()


@pytest.mark.parametrize("kind", FILES)
@in_a_folder
@given(data=st.data())
def test_a_broken_file(tmp_path, kind, data):
    """Some bytes of a good file changed, or its end cut off."""
    content = bytearray(FILES[kind])
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    last = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    read(tmp_path, bytes(content[:last]), encode=True, missing="drop")


def test_text_that_points_outside_a_feather_file_is_refused(tmp_path):
    """Taken as it is, such a column ends the process when its values are looked at."""
    offsets = np.array([0, 1, 2, 3], np.int32).tobytes()
    stream = io.BytesIO()
    frame = pd.DataFrame({"a": [1.5, 2.0, 4.0], "c": ["x", "y", "x"]})
    frame.to_feather(stream, compression="uncompressed")
    content = stream.getvalue()
    assert offsets in content or np.arange(4, dtype=np.int64).tobytes() in content
    wide = np.array([0, 1, 2, 2**30], np.int64).tobytes()
    narrow = np.array([0, 1, 2, 2**30], np.int32).tobytes()
    content = content.replace(np.arange(4, dtype=np.int64).tobytes(), wide)
    content = content.replace(offsets, narrow)
    assert read(tmp_path, content, encode=True) is None


@pytest.mark.parametrize("kind", FILES)
def test_the_good_files_are_read(tmp_path, kind):
    assert read(tmp_path, FILES[kind], encode=True) is not None


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.lists(
            st.none() | st.floats() | st.booleans() | st.text(max_size=2), min_size=3, max_size=3
        ),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
    st.sampled_from([None, *MISSING]),
    st.sampled_from(SCALES),
    st.lists(st.text(max_size=3), max_size=2),
)
def test_any_frame(content, encode, missing, scale, named):
    frame = pd.DataFrame(content)
    columns = [name for name in frame.columns if name in named] * 2 or None
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            ready = prepare(
                frame, "f", columns=columns, encode=encode, missing=missing, scale=scale
            )
        except BadFileError as error:
            found = str(error)
        else:
            found = "an answer without NaN or infinity" if np.isfinite(ready.X).all() else ""
    assert len(found) > 20


@pytest.mark.parametrize(
    "column",
    [
        [0.0, 5e-324, 5e-324],
        [-1.7e308, 1.7e308, 1.7e308],
        [-1.7e308, -1.6e308, 1.7e308],
        [3e-310] * 3,
    ],
)
@pytest.mark.parametrize("scale", ["standard", "robust"])
def test_the_ends_of_the_range_of_a_float_are_scaled(column, scale):
    frame = pd.DataFrame({"a": column, "b": [1.0, 2.0, 4.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = prepare(frame, "f", scale=scale).X
    assert np.isfinite(X).all()
    assert np.ptp(X[:, 0]) == 0 or np.ptp(X[:, 0]) > 1


def test_a_column_named_twice_is_taken_once():
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 0.0, 1.0]})
    assert prepare(frame, "f", columns=["a", "a"]).names == ["a"]


ODD = st.one_of(
    arrays(scalar_dtypes(), array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)),
    arrays(float, st.tuples(st.integers(3, 9), st.integers(1, 3)), elements=st.floats(width=64)),
    arrays(
        np.float32, st.tuples(st.integers(4, 9), st.integers(1, 2)), elements=st.floats(width=32)
    ),
    st.lists(st.lists(st.integers() | st.text(max_size=2) | st.none(), max_size=3), max_size=4),
    st.none()
    | st.text(max_size=3)
    | st.integers()
    | st.dictionaries(st.text(max_size=2), st.floats()),
)
LABELS = st.one_of(
    arrays(int, st.integers(0, 9), elements=st.integers(-2, 3)),
    arrays(scalar_dtypes(), array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=9)),
    st.lists(st.none() | st.integers(0, 2) | st.text(max_size=1), max_size=9),
    st.none() | st.integers(),
)


def meant(function, *args, **options):
    """Call; only ValueError and TypeError with a message may come out, and no numpy warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning, module="edfkmeans")
        try:
            return function(*args, **options)
        except (ValueError, TypeError) as error:
            found = str(error)
    assert found.strip()
    return None


@given(ODD, LABELS, LABELS, st.sampled_from(["paper", "exact"]))
def test_any_array_with_any_labels(X, labels, pilot, method):
    dof = meant(degrees_of_freedom, X, labels, pilot, method=method)
    if dof is not None:
        assert np.isfinite(dof.total)
    meant(silhouettes, X, labels)
    meant(score, X, labels, random_state=0)
    meant(KMeansPath.from_labels, X, {2: labels, 3: pilot})


@few
@given(
    ODD,
    st.sampled_from([None, 1, 2, 3, 0, -1, 2.5, "a"]),
    st.sampled_from(["paper", "naive", "combined", "judge"]),
)
def test_any_array_to_choose_for(X, k_max, method):
    found = meant(select_k, X, k_max, method=method, random_state=0, n_jobs=1)
    if found is not None:
        assert 1 <= found.k <= found.k_max
        assert np.isfinite(found.table.inertia).all()
        if found.confidence is not None:
            assert found.confidence.stack().between(0, 1).all()


@few
@given(
    arrays(
        float,
        st.tuples(st.integers(6, 20), st.integers(1, 3)),
        elements=st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e-17, 1e17, 1e150, 5e-324, 0.1, 0.3]),
    )
)
def test_columns_of_any_scale(X):
    found = meant(select_k, X, 2, random_state=0, n_jobs=1)
    assert found is None or found.k in (1, 2)
    meant(find_structure, X, random_state=0, n_jobs=1)


def test_gaps_below_the_rounding_are_none():
    """Most values within a rounding of each other: no width is zero, and no density infinite."""
    for tiny in (1e-25, 1e-17, 5e-324):
        column = np.concatenate([[-1.0, 1.0], np.arange(38) * tiny])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            heights = unimodal_heights(column)
        assert ((heights >= 0) & (heights <= 1)).all()
        assert (np.diff(heights[np.argsort(column, kind="stable")]) >= 0).all()


@pytest.mark.parametrize(
    "dtype, value, scale", [(float, 1.7e300, 1e-20), (np.float32, 1e38, 1e-30)]
)
def test_a_huge_constant_column_costs_no_digits(dtype, value, scale):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(40, 2)) * scale).astype(dtype)
    with_it = np.column_stack([X, np.full(40, value, dtype)])
    labels, pilot = np.arange(40) % 3, np.arange(40) % 7
    plain = degrees_of_freedom(X, labels, pilot)
    assert degrees_of_freedom(with_it, labels, pilot).excess == plain.excess


def test_a_path_of_constant_data_is_refused():
    with pytest.raises(ValueError, match="nothing to cluster"):
        KMeansPath.from_labels(np.ones((6, 2)), {2: [0, 0, 0, 1, 1, 1]})


def test_labels_of_mixed_kinds_are_named():
    with pytest.raises(TypeError, match="labels mixes kinds"):
        degrees_of_freedom(np.eye(4), np.array([0, "a", 1, "b"], dtype=object), [0, 1, 2, 2])


NASTY = """
import os

import numpy as np
from edfkmeans import compare, degrees_of_freedom, fit_path, select_k
from edfkmeans.criteria.separation import silhouettes

rng = np.random.default_rng(0)
blobs = np.repeat(rng.normal(size=(4, 3)) * 9, [1, 49, 30, 17], axis=0)
blobs += rng.normal(size=(97, 3))
tables = {
    "blobs": blobs,
    "duplicates": np.repeat(rng.normal(size=(9, 2)), 12, axis=0),
    "line": np.arange(60.0)[:, None],
    "wide": rng.normal(size=(12, 50)),
    "lattice": np.stack(np.meshgrid(range(8), range(7)), -1).reshape(-1, 2).astype(float),
    "far": rng.normal(size=(50, 2)) + [1e8, 0],
    "lone": np.concatenate([np.zeros((40, 2)), rng.normal(size=(12, 2)), [[1e6, 1e6]]]),
}
if os.environ.get("HYPOTHESIS_PROFILE") == "nightly":  # all kernels compiled once more
    tables["float32"] = blobs.astype(np.float32)
for name, X in tables.items():
    for fits in ("best", "paper"):
        path = fit_path(X, 4, fits=fits, random_state=0, n_jobs=1)
        for k in (2, 4):
            for method in ("paper", "exact"):
                dof = degrees_of_freedom(X, path.labels(k), path.labels(5), method=method)
                assert np.isfinite(dof.total), (name, k, method)
            silhouettes(X, path.labels(k))
    for method in ("judge", "combined"):
        found = select_k(X, path=path, method=method, random_state=0, n_jobs=1)
        assert 1 <= found.k <= 4
    compare(X, path=path, criteria=["gap", "gap-plain", "silhouette"], random_state=0, n_jobs=1)
print("within bounds")
"""


def test_kernels_stay_within_their_arrays(tmp_path):
    """Compiled once more, with every index checked."""
    environment = os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path),
        "NUMBA_OPT": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", NASTY], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip().endswith("within bounds")


NASTY_VALUES = st.sampled_from([0.0, 1.0, -1.0, 2.0, 1e-300, 1e-17, 1e8, 1e150, 0.1, 0.3])
SMALL = arrays(float, st.tuples(st.integers(4, 14), st.integers(1, 3)), elements=NASTY_VALUES)


@few
@given(
    SMALL,
    st.lists(st.sampled_from(list(registered())), min_size=1, max_size=4, unique=True),
    st.sampled_from([2, 3, 4]),
    st.sampled_from(["best", "paper"]),
)
def test_any_comparison(X, criteria, k_max, fits):
    found = meant(
        compare, X, criteria, labels=np.arange(len(X)) % 2, k_max=k_max, fits=fits,
        random_state=0, n_jobs=1,
    )  # fmt: skip
    if found is not None:
        assert found.table.k.dropna().between(1, k_max).all()
        assert (found.table.k.notna() | (found.table.remark != "")).all()


@pytest.mark.parametrize(
    "option, value",
    [
        ("criteria", "no such"),
        ("criteria", ["bic", "bic"]),
        ("criteria", [None]),
        ("criteria", None),
        ("criteria", []),
        *(("k_max", value) for value in (0, 1, -1, 2.5, "a", True, np.nan, 10**30)),
        *(("labels", value) for value in ([0], "a", [None] * 30, np.full(30, np.nan), np.eye(30))),
        *(("fits", value) for value in ("none", None, 1, [])),
        *(("n_init", value) for value in (0, -1, 2.5, "x", True)),
        *(("random_state", value) for value in (-1, "seed", 2.5, [])),
        *(("n_jobs", value) for value in (0, "x", 2.5)),
        ("path", "a path"),
    ],
)
def test_options_that_are_none(option, value):
    rng = np.random.default_rng(0)
    options = {"criteria": ["silhouette"], "random_state": 0, "n_jobs": 1, option: value}
    with pytest.raises((ValueError, TypeError), match=f"{option}|criterion") as error:
        compare(rng.normal(size=(30, 2)), **options)
    assert len(str(error.value)) > 20


@few
@given(SMALL, st.integers(1, 4), st.none() | LABELS, st.integers(0, 2**32 - 1))
def test_any_score(X, k, pilot, seed):
    labels = np.random.default_rng(seed).integers(0, k, len(X))
    found = meant(score, X, labels, pilot_labels=pilot, random_state=0, n_jobs=1)
    if found is not None:
        assert not np.isinf(found["value"]).any()


def alike_beside_one_far_row():
    """Rows that differ, but not in any square beside 1e150: three clusters fit them exactly."""
    X = np.full((16, 4), 1e-17)
    X[4, 2], X[5, 0], X[10, 2], X[11, 3] = -1.0, 1e-300, 1e150, 0.0
    X[8], X[12:] = [1e-17, 5e-324, 1e8, 0.3], 0.0
    return X


def test_fits_without_residual_are_told_apart():
    X = alike_beside_one_far_row()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = select_k(X, 5, method="naive", random_state=0, n_jobs=1)
        remarks = compare(X, k_max=5, random_state=0).table.remark
    assert found.k == 3
    assert sorted(each.distance for each in found.candidates)[:1] == [0.0]
    for name in ("gap", "gap-plain", "jump"):
        assert "without residual: lower k_max" in remarks[name]
    for name in ("prediction-strength", "stability"):
        assert "too much alike" in remarks[name]


def test_compare_survives_what_criteria_cannot_judge():
    X = np.repeat(np.arange(6.0)[:, None], 3, axis=0)
    found = compare(X, k_max=4, random_state=0, n_jobs=1)
    assert found.table.k.dropna().between(1, 4).all()
    assert fit_path(X, 4, random_state=0).inertia[-1] > 0
