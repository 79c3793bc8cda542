"""Folders of Parquet files and CSV files of any kind, opened lazily: an answer or a clear error."""

import io
import shutil

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from edfkmeans import select_k
from edfkmeans.engines.dask_files import open_lazily, scaled

in_a_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings.default.max_examples // 2,
)


@pytest.fixture(autouse=True, scope="module")
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def choose(place, scale="standard"):
    """Open, scale and choose; only errors that are meant may come out."""
    try:
        ready = scaled(open_lazily(place), scale)
        found = select_k(ready.X, 2, method="naive", random_state=0, n_jobs=1)
    except (ValueError, TypeError) as error:
        message = str(error)
    else:
        assert np.isfinite(found.table.inertia).all()
        assert found.k in (1, 2)
        return found
    event("refused")
    assert len(message) > 20
    return None


def parquet(**columns):
    stream = io.BytesIO()
    pd.DataFrame(columns).to_parquet(stream)
    return stream.getvalue()


rng = np.random.default_rng(0)
GOOD = parquet(a=rng.normal(size=9), b=rng.normal(size=9))
PARTS = {
    "good": GOOD,
    "single": parquet(a=rng.normal(size=5).astype(np.float32), b=np.arange(5, dtype=np.int8)),
    "no rows": parquet(a=np.empty(0), b=np.empty(0)),
    "no columns": parquet(),
    "other columns": parquet(a=[1.0, 2.0], c=[3.0, 4.0]),
    "one more": parquet(a=[1.0, 2.0], b=[3.0, 1.0], c=[3.0, 4.0]),
    "text": parquet(a=["x", "y"], b=[1.0, 2.0]),
    "lists": parquet(a=[[1], [2]], b=[1.0, 2.0]),
    "dates": parquet(a=pd.date_range("2020", periods=2), b=[1.0, 2.0]),
    "missing": parquet(a=[1.0, None], b=[1.0, 2.0]),
    "infinite": parquet(a=[1.0, np.inf], b=[1.0, 2.0]),
    "huge": parquet(a=[1e300, -1e300], b=[5e-324, 0.0]),
    "empty": b"",
    "cut off": GOOD[:-9],
    "not Parquet": b"a,b\n1,2\n",
}


@st.composite
def parts(draw):
    """Files of all kinds, some bytes of some of them changed."""
    found = []
    for kind in draw(st.lists(st.just("good") | st.sampled_from(list(PARTS)), max_size=3)):
        content = bytearray(PARTS[kind])
        for _ in range(draw(st.sampled_from([0, 0, 1, 3])) if content else 0):
            content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
        found.append(bytes(content))
    return found


@in_a_folder
@given(parts(), st.sampled_from(["standard", "none"]))
@example([], "standard")
@example([PARTS["no columns"]], "none")
@example([b"\x00" * 300], "none")
def test_any_folder(tmp_path, contents, scale):
    folder = tmp_path / "folder"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for i, content in enumerate(contents):
        (folder / f"part.{i}.parquet").write_bytes(content)
    choose(folder, scale)


FIELD = st.integers(-9, 9).map(str) | st.floats(-1e9, 1e9).map(repr) | st.sampled_from(["", "x"])


def table(rows):
    return "\n".join(["a,b", *(",".join(row) for row in rows)]).encode()


@in_a_folder
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(alphabet='ab,1.5e9-\n\r"\t ', max_size=60).map(str.encode),
        st.lists(st.tuples(FIELD, FIELD), min_size=3, max_size=9).map(table),
    ),
    st.sampled_from([".csv", ".tsv"]),
)
@example(b"", ".csv")
@example(b"a,b\n", ".csv")
@example(b'a,b\n1,"2\n3,4\n', ".csv")
@example("a,b\n1,2\n3,4\n".encode("utf-16"), ".csv")
@example(b"a,b\n1,2\n3,4,5\n", ".csv")
@example(b"a,b\n" + b"1,2\n" * 9 + b"x,y\n", ".csv")
def test_any_text_in_chunks(tmp_path, content, ending):
    file = tmp_path / f"table{ending}"
    file.write_bytes(content)
    choose(file)


@pytest.mark.parametrize("kind", ["empty", "cut off", "not Parquet"])
def test_a_file_that_cannot_be_opened_is_named(tmp_path, kind):
    file = tmp_path / "table.parquet"
    file.write_bytes(PARTS[kind])
    with pytest.raises(ValueError, match=r"table\.parquet could not be opened: .*Is it whole"):
        open_lazily(file)


def test_folders_without_anything_in_them(tmp_path):
    with pytest.raises(ValueError, match=r"could not be opened: No files.*Is it whole"):
        open_lazily(tmp_path)
    (tmp_path / "part.parquet").write_bytes(PARTS["no columns"])
    with pytest.raises(ValueError, match=r"X has no columns\. Give"):
        scaled(open_lazily(tmp_path))


def test_the_good_parts_give_an_answer(tmp_path):
    for i, kind in enumerate(["good", "single", "no rows"]):
        (tmp_path / f"part.{i}.parquet").write_bytes(PARTS[kind])
    assert choose(tmp_path).table.shape[0] == 2
