"""The runner of the studies, and the study of the paper from end to end on a corner of its grid."""

import itertools
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conftest import posix_only

EXPERIMENTS = Path(__file__).parents[1] / "experiments"
CELLS = [{"a": a, "b": b} for a, b in itertools.product(["x", "y, z"], range(20))]


@pytest.fixture(autouse=True)
def experiments(monkeypatch):
    monkeypatch.syspath_prepend(str(EXPERIMENTS))


def noise(a, b):
    return {"value": float(np.random.default_rng([len(a), b]).normal()), "whole": b * 2}


def test_the_rows_do_not_depend_on_workers_or_order(tmp_path):
    import runner

    runner.run(CELLS, noise, tmp_path / "one.csv", jobs=1)
    runner.run(CELLS[::-1], noise, tmp_path / "many.csv", jobs=5)
    one, many = (pd.read_csv(tmp_path / name) for name in ("one.csv", "many.csv"))
    pd.testing.assert_frame_equal(one, many[::-1].reset_index(drop=True))
    assert one.columns.tolist() == ["a", "b", "value", "whole"]
    assert one["a"].unique().tolist() == ["x", "y, z"]


def test_a_failure_keeps_what_is_done_and_nothing_is_done_twice(tmp_path):
    import runner

    asked = []

    def fails_late(a, b):
        asked.append((a, b))
        if len(asked) == 12:
            raise RuntimeError("the cell fails")
        return noise(a, b)

    with pytest.raises(RuntimeError, match="the cell fails"):
        runner.run(CELLS, fails_late, tmp_path / "rows.csv", jobs=1)
    assert 1 <= len(runner.rows_of(tmp_path / "rows.csv")) <= 12
    done = {(row["a"], int(row["b"])) for row in runner.rows_of(tmp_path / "rows.csv")}
    asked.clear()
    asked += [None] * 20  # fail no more
    runner.run(CELLS, fails_late, tmp_path / "rows.csv", jobs=1)
    assert done.isdisjoint(asked[20:])
    runner.run(CELLS, noise, tmp_path / "straight.csv", jobs=2)
    assert (tmp_path / "rows.csv").read_bytes() == (tmp_path / "straight.csv").read_bytes()


def test_a_row_that_was_cut_off_is_made_again(tmp_path):
    import runner

    file = tmp_path / "rows.csv"
    runner.run(CELLS, noise, file, jobs=2)
    whole = file.read_bytes()
    file.write_bytes(whole[:-4])
    assert len(runner.rows_of(file)) == len(CELLS) - 1
    runner.run(CELLS, noise, file, jobs=2)
    assert file.read_bytes() == whole


KILLED = """
import sys, time
sys.path.insert(0, sys.argv[1])
import runner
def slow(a):
    time.sleep(0.05)
    return {"value": a / 7}
runner.run([{"a": a} for a in range(40)], slow, sys.argv[2], jobs=2)
"""


@posix_only
@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_killed_twice_in_the_middle_it_ends_with_the_same_file(how, tmp_path):
    command = [sys.executable, "-c", KILLED, str(EXPERIMENTS)]
    file = tmp_path / "killed.csv"
    for least in (5, 15):
        process = subprocess.Popen([*command, str(file)], stderr=subprocess.DEVNULL)
        while not file.exists() or file.read_text(encoding="utf-8").count("\n") <= least:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(getattr(signal, how))
        process.wait()
        assert file.read_text(encoding="utf-8").count("\n") < 40
    for name in ("killed.csv", "straight.csv"):
        subprocess.run([*command, str(tmp_path / name)], check=True, stderr=subprocess.DEVNULL)
    assert file.read_bytes() == (tmp_path / "straight.csv").read_bytes()


def test_a_corner_of_the_study_ends_in_a_page(tmp_path, monkeypatch, capsys):
    import reproduce

    def corner(profile):
        grid = grid_of(profile)
        grid["simulations"] |= {"replicates": 2, "k": [5], "d": [5], "schemes": ["uniform"]}
        grid["real"] |= {"sets": ["iris", "wine"], "seeds": 1}
        grid["pilots"]["pilots"] = 3
        grid["direct"] |= {"k": [5], "d": [5], "pairs": 1}
        return grid

    grid_of = reproduce.grid_of
    monkeypatch.setattr(reproduce, "grid_of", corner)
    reproduce.main("smoke", 2, tmp_path / "out", tmp_path / "rows")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "Table 3: public data sets" in page
    assert "iris (3)" in page
    for figure in ("figure_1", "figure_2", "figures_3_and_4", "figure_5", "figure_6"):
        assert f'src="figures/{figure}.png"' in page
        assert (tmp_path / "out" / "figures" / f"{figure}.png").stat().st_size > 10_000
    assert str(tmp_path / "out" / "index.html") in capsys.readouterr().out
    runs = json.loads((tmp_path / "rows" / "runs.json").read_text(encoding="utf-8"))
    assert [run["rows"] for run in runs] == [2, 2, 3, 1]
    reproduce.main("smoke", 2, tmp_path / "out", tmp_path / "rows")  # nothing left to do
    assert json.loads((tmp_path / "rows" / "runs.json").read_text(encoding="utf-8")) == runs


def test_sets_that_are_not_here_are_left_out_aloud(monkeypatch, capsys):
    import reproduce
    import sets

    monkeypatch.setattr(sets, "FOLDER", None)
    monkeypatch.delenv("EDFKMEANS_DATA", raising=False)
    sets.load.cache_clear()
    grid = reproduce.only_available(reproduce.grid_of("full"))
    assert grid["real"]["sets"] == ["wine", "iris"]
    assert "Left out: The set 'seeds' is not on this machine" in capsys.readouterr().err


def test_the_best_and_those_not_different_from_it():
    import paper_tables as tables

    rng = np.random.default_rng(0)
    best = rng.normal(size=30)
    values = {"same": best.copy(), "best": best, "near": best + rng.normal(size=30) / 50}
    assert tables.among_the_best(values | {"worse": best - 0.3}) == {"same", "best", "near"}


def test_the_grid_is_the_papers():
    import paper_tables as tables
    import reproduce

    grid = reproduce.grid_of("full")
    published = pd.read_csv(tables.PUBLISHED / "tables_1_and_2.csv")
    cells = {
        (tables.SCHEMES[cell["scheme"]], cell["k"], cell["d"])
        for cell in next(reproduce.studies(grid))[1]
    }
    assert cells == set(published[["scheme", "k", "d"]].itertuples(index=False, name=None))
    assert grid["simulations"]["replicates"] == 30
    assert len(grid["real"]["sets"]) == 28
