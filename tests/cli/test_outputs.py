"""Files that a command writes: names that clash, files that appear, ids that stay."""

import html
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from conftest import blobs, posix_only
from edfkmeans import selection
from edfkmeans._atomic import place, temporary
from edfkmeans._spreadsheets import harmless
from edfkmeans.cli import app

OPTIONS = ("--k-max", "5")


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def table():
    """Three clear groups whose rows have names."""
    X, _ = blobs(3, n=12)
    frame = pd.DataFrame(X.round(3), columns=list("xyz"))
    return frame.assign(who=[f"r{i:03d}" for i in range(len(X))])


def read(file):
    return pd.read_csv(file) if file.suffix == ".csv" else pd.read_parquet(file)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ["cluster", "ambiguity", "row", "who"])
def test_the_id_keeps_its_name_and_its_values(table, name, ending, tmp_path):
    source, labels = tmp_path / "t.csv", tmp_path / f"o{ending}"
    table.rename(columns={"who": name}).to_csv(source, index=False)
    done = run("select", source, "--id", name, "--labels", labels, *OPTIONS)
    assert done.exit_code == 0, done.output
    ours = [f"edfkmeans_{each}" if each == name else each for each in ("cluster", "ambiguity")]
    assert list(read(labels).columns) == [name, *ours]
    assert read(labels)[name].tolist() == table.who.tolist()
    assert set(read(labels)[ours[0]]) == {0, 1, 2}
    told = [each for each in ours if each not in ("cluster", "ambiguity")]
    assert all(f"our column is {each!r}" in done.output for each in told)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ["who", "cluster"])
def test_the_table_is_written_again_with_its_clusters(table, name, ending, tmp_path):
    source, out = tmp_path / "t.csv", tmp_path / f"o{ending}"
    table = table.rename(columns={"who": name}).assign(idle=np.arange(len(table)) / 7)
    table.loc[4, "x"] = np.nan
    table.loc[5, name] = "=1+1"
    table.to_csv(source, index=False)
    options = ("--drop", "idle", "--drop", name, "--missing", "drop", *OPTIONS)
    done = run("select", source, "--table", out, *options)
    assert done.exit_code == 0, done.output
    written, kept = read(out), table.drop(index=4).reset_index(drop=True)
    if ending == ".csv":
        kept.loc[4, name] = "'=1+1"
    ours = "edfkmeans_cluster" if name == "cluster" else "cluster"
    pd.testing.assert_frame_equal(written.drop(columns=ours), kept)
    assert list(written.columns) == [*table.columns, ours]
    told = "1 row with missing values is not in it"
    where = f"the clusters are in the column {ours!r}; " * (ours != "cluster")
    assert f"Wrote the table: {out} ({where}{told})\n" in done.output
    labels = tmp_path / "labels.csv"
    done = run("select", source, "--labels", labels, *options)
    assert f"Wrote the labels: {labels} ({told})\n" in done.output
    assert written[ours].tolist() == read(labels).cluster.tolist()


def test_the_named_index_stays_in_the_table(table, tmp_path):
    source, out = tmp_path / "t.parquet", tmp_path / "o.parquet"
    table.set_index("who").to_parquet(source)
    assert run("select", source, "--table", out, *OPTIONS).exit_code == 0
    assert read(out).index.tolist() == table.who.tolist()


@pytest.mark.parametrize("levels", [1, 2])
def test_no_index_of_a_table_reaches_a_spreadsheet_as_a_formula(table, levels, tmp_path):
    source, out = tmp_path / "t.parquet", tmp_path / "o.csv"
    evil = ["=cmd|' /C calc'!A0", *table.who[1:]]
    names = ["=HYPERLINK(1)", "@x"][:levels]
    index = pd.MultiIndex.from_arrays([evil] * levels, names=names)
    if levels == 1:
        index = pd.Index(evil, name=names[0])
    table.drop(columns="who").set_index(index).to_parquet(source)
    assert run("select", source, "--table", out, *OPTIONS).exit_code == 0
    assert list(read(out).columns) == [*(f"'{name}" for name in names), *"xyz", "cluster"]
    for level in range(levels):
        assert read(out).iloc[:, level].tolist() == [f"'{evil[0]}", *evil[1:]]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_our_column_has_another_name_than_the_index(table, ending, tmp_path):
    source, out = tmp_path / "t.parquet", tmp_path / f"o{ending}"
    table.rename(columns={"who": "cluster"}).set_index("cluster").to_parquet(source)
    assert run("select", source, "--table", out, *OPTIONS).exit_code == 0
    written = read(out).reset_index(drop=ending == ".csv")
    assert list(written.columns) == ["cluster", *"xyz", "edfkmeans_cluster"]
    assert written.cluster.tolist() == table.who.tolist()


@pytest.mark.parametrize("name", ["self", "func"])
def test_ids_may_be_called_as_arguments_are(table, name, tmp_path):
    source, labels, model = (tmp_path / each for each in ("t.csv", "l.csv", "m.json"))
    table.rename(columns={"who": name}).to_csv(source, index=False)
    done = run("select", source, "--id", name, "--labels", labels, "--model", model, *OPTIONS)
    assert done.exit_code == 0, done.output
    assert read(labels)[name].tolist() == table.who.tolist()
    done = run("assign", model, source, "--id", name, "--labels", labels, "--force")
    assert done.exit_code == 0, done.output
    assert read(labels)[name].tolist() == table.who.tolist()


def test_a_table_that_is_streamed_is_not_written_again(table, tmp_path):
    source = tmp_path / "t.parquet"
    table.drop(columns="who").to_parquet(source)
    done = run("select", source, "--engine", "arrow", "--table", tmp_path / "o.csv", *OPTIONS)
    assert done.exit_code == 2
    assert "--table is for rows in memory" in done.output
    done = run("select", source, "--table", tmp_path / "o.txt")
    assert done.exit_code == 2
    assert "--table" in done.output
    assert ".parquet" in done.output


@pytest.mark.parametrize("index", ["who", "cluster", None])
def test_the_index_of_a_parquet_file_is_the_id(table, index, tmp_path):
    source, labels = tmp_path / "t.parquet", tmp_path / "o.csv"
    table.set_index("who").rename_axis(index).to_parquet(source)
    named = ["--id", index] if index else []
    for options in ([], named):
        done = run("select", source, "--labels", labels, "--force", *options, *OPTIONS)
        assert done.exit_code == 0, done.output
        assert read(labels).iloc[:, 0].tolist() == table.who.tolist()
        assert read(labels).columns[0] == (index or "row")
    assert "index names the rows" in done.output


def test_a_column_can_be_the_id_although_there_is_an_index(table, tmp_path):
    source, labels = tmp_path / "t.parquet", tmp_path / "o.csv"
    table.set_index(pd.Index(np.arange(36) * 3, name="n")).to_parquet(source)
    done = run("select", source, "--id", "who", "--labels", labels, *OPTIONS)
    assert done.exit_code == 0, done.output
    assert read(labels).who.tolist() == table.who.tolist()


@pytest.mark.parametrize(
    "link", [False, pytest.param(True, marks=posix_only)], ids=["file", "dead link"]
)
def test_what_appears_in_the_meantime_is_left_alone(table, tmp_path, monkeypatch, link):
    source = tmp_path / "t.csv"
    table.to_csv(source, index=False)
    files = {name: tmp_path / f"o.{name}" for name in ("csv", "json", "html", "svg")}
    original = selection.select_k

    def slowly(*arguments, **options):
        for file in files.values():
            if link:
                file.symlink_to(tmp_path / "nothing")
            else:
                file.write_text("someone else's", encoding="utf-8")
        return original(*arguments, **options)

    monkeypatch.setattr(selection, "select_k", slowly)
    outputs = ["--labels", files["csv"], "--json", files["json"], "--report", files["html"]]
    done = run("select", source, "--id", "who", *outputs, "--plot", files["svg"], *OPTIONS)
    assert done.exit_code == 0, done.output
    for ending, file in files.items():
        beside = tmp_path / f"o-2.{ending}"
        assert beside.stat().st_size > 100
        assert f"{file} appeared while this ran and was left alone" in done.stderr
        assert str(beside) in done.output
        assert file.is_symlink() if link else file.read_text(encoding="utf-8") == "someone else's"
    assert not (tmp_path / "nothing").exists()
    assert len(list(tmp_path.iterdir())) == 9


@posix_only
def test_a_link_to_nothing_is_not_written_through(table, tmp_path):
    source, labels = tmp_path / "t.csv", tmp_path / "o.csv"
    table.to_csv(source, index=False)
    labels.symlink_to(tmp_path / "elsewhere.csv")
    done = run("select", source, "--id", "who", "--labels", labels, *OPTIONS)
    assert done.exit_code == 2
    assert "is there already" in done.output.replace("\n", " ")
    forced = run("select", source, "--id", "who", "--labels", labels, "--force", *OPTIONS)
    assert forced.exit_code == 0
    assert not labels.is_symlink()
    assert not (tmp_path / "elsewhere.csv").exists()


@posix_only
@pytest.mark.parametrize("output", ["labels", "report", "json", "model", "table"])
def test_force_writes_to_what_is_behind_a_link(table, output, tmp_path):
    source, ending = tmp_path / "t.csv", {"labels": "csv", "table": "csv", "report": "html"}
    table.to_csv(source, index=False)
    (tmp_path / "far").mkdir()
    file = tmp_path / "far" / "real"
    file.write_text("old", encoding="utf-8")
    link = tmp_path / f"link.{ending.get(output, 'json')}"
    link.symlink_to("far/real")
    arguments = ("select", source, "--id", "who", f"--{output}", link, *OPTIONS)
    assert "is there already" in run(*arguments).output.replace("\n", " ")
    done = run(*arguments, "--force")
    assert done.exit_code == 0, done.output
    assert f"Wrote the {output}: {link}" in done.output
    assert link.is_symlink()
    assert link.read_bytes() == file.read_bytes()
    assert file.stat().st_size > 100
    assert len(list(tmp_path.rglob("*"))) == 4


@pytest.mark.parametrize("force", [["--force"], []])
@pytest.mark.parametrize(
    "spelling", ["whole", "detour", pytest.param("link", marks=posix_only), "same"]
)
def test_one_file_for_two_outputs_is_refused(table, spelling, force, tmp_path, monkeypatch):
    table.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(selection, "select_k", lambda *_, **__: 1 / 0)
    name = {"whole": tmp_path / "z.csv", "detour": "sub/../z.csv"}.get(spelling, "y.csv")
    if spelling in ("link", "same"):
        (tmp_path / "z.csv").write_text("old", encoding="utf-8")
        if spelling == "link":
            (tmp_path / "y.csv").symlink_to("z.csv")
        else:  # as where capitals are the same
            os.link("z.csv", "y.csv")
        force = ["--force"]
    done = run("select", "t.csv", "--id", "who", "--labels", name, "--table", "z.csv", *force)
    assert done.exit_code == 2, done.output
    assert "is named for two outputs." in done.output.replace("\n", " ")


def test_the_next_free_name_is_taken(tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    for number in range(4):
        part = temporary(file)
        part.write_text(str(number), encoding="utf-8")
        if number == 3:  # a file system without hard links
            monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError("no links")))
        place(part, file, overwrite=False)
    assert {p.name: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()} == {
        "a.txt": "0", "a-2.txt": "1", "a-3.txt": "2", "a-4.txt": "3"
    }  # fmt: skip
    folder = tmp_path / "part"
    folder.mkdir()
    (folder / "x").write_text("", encoding="utf-8")
    beside = place(folder, file, overwrite=False)
    assert beside == tmp_path / "a-5.txt"
    assert place(beside, file, overwrite=True) == file
    assert file.is_dir()


@pytest.mark.parametrize(
    "text, written",
    [
        ("=1+1", "'=1+1"),
        ("a;=1+1", "a;'=1+1"),
        (";=1+1", ";'=1+1"),
        ("a; @x", "a;' @x"),
        ("＝1+1", "'＝1+1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠x", "'＠x"),
        ("a\t-b", "a\t'-b"),
        ("\tx", "'\tx"),
        ("a=b", "a=b"),
        ("2026-11-16", "2026-11-16"),
        ("a,-b", "a,-b"),
        (-5, -5),
    ],
)
def test_no_formula_reaches_a_spreadsheet(text, written):
    assert harmless(text) == written


def test_an_engine_that_is_not_installed_is_named_with_its_extra(table, tmp_path, monkeypatch):
    source = tmp_path / "t.parquet"
    table.drop(columns="who").to_parquet(source)
    monkeypatch.setitem(sys.modules, "edfkmeans.engines.dask_files", None)
    done = run("select", source, "--engine", "dask", *OPTIONS)
    assert done.exit_code == 2
    assert "--engine dask needs dask." in done.output
    assert "pip install '.[dask]'" in done.output
    assert "edfkmeans[" not in done.output


@pytest.mark.parametrize(
    "ids, kept",
    [
        ([f"{i:05d}" for i in range(36)], None),
        (["NA", "", *(f"{i}" for i in range(34))], None),
        (["1e5", "1.10", *(f"{i}.0" for i in range(34))], None),
        ([str(2**60 + i) for i in range(36)], [2**60 + i for i in range(36)]),
        ([str(i) for i in range(-3, 33)], list(range(-3, 33))),
    ],
    ids=["zeros in front", "NA", "decimals", "large", "numbers"],
)
def test_ids_of_a_text_file_are_as_they_were_written(table, ids, kept, tmp_path):
    source, labels = tmp_path / "t.csv", tmp_path / "o.parquet"
    table.assign(who=ids).to_csv(source, index=False, na_rep="NA")
    done = run("select", source, "--id", "who", "--labels", labels, *OPTIONS)
    assert done.exit_code == 0, done.output
    assert read(labels).who.tolist() == (ids if kept is None else kept)


@pytest.mark.parametrize(
    "index, names",
    [
        (pd.RangeIndex(1000, 1036, name="customer"), list(range(1000, 1036))),
        (pd.RangeIndex(50, 86), list(range(50, 86))),
        (pd.RangeIndex(36), list(range(1, 37))),
        (
            pd.MultiIndex.from_product([["a", "b"], range(18)]),
            [f"{a} / {i}" for a in "ab" for i in range(18)],
        ),
    ],
    ids=["named", "filtered", "plain", "two levels"],
)
def test_an_index_of_numbers_is_kept_unless_it_counts_rows(table, index, names, tmp_path):
    source, labels = tmp_path / "t.parquet", tmp_path / "o.parquet"
    table.drop(columns="who").set_index(index).to_parquet(source)
    done = run("select", source, "--labels", labels, *OPTIONS)
    assert done.exit_code == 0, done.output
    assert read(labels).iloc[:, 0].tolist() == names
    assert read(labels).columns[0] == (index.name or "row")


@pytest.mark.parametrize("length", [250, 300])
def test_a_name_that_is_too_long_is_refused_before_the_work(table, length, tmp_path, monkeypatch):
    table.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(selection, "select_k", lambda *_, **__: 1 / 0)
    long = tmp_path / f"{length * 'x'}.csv"
    done = run("select", tmp_path / "t.csv", "--id", "who", "--labels", long)
    assert done.exit_code == 2, done.output
    assert "too long a name for a file. Shorten it." in done.output.replace("\n", " ")
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]
    assert run("select", tmp_path / f"{300 * 'x'}.csv").exit_code == 2


@posix_only
@pytest.mark.parametrize(
    "closed, code, said",
    [
        ("<&-", 2, "Standard input is closed."),
        (">&- 2>&- < t.csv", 0, ""),
        pytest.param(
            "> /dev/full < t.csv",
            2,
            "could not be written to: No space left on device. The files were written.",
            marks=pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it"),
        ),
    ],
)
def test_standard_streams_that_are_closed_or_full(table, closed, code, said, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    command = f"'{sys.executable}' -m edfkmeans select - --id who --labels o.csv --k-max 4 {closed}"
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == code, ran.stderr
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert (tmp_path / "o.csv").exists() == ("t.csv" in closed)


@pytest.mark.parametrize("command", ["select", "compare"])
def test_a_report_says_what_was_added_before_a_logarithm(table, command, tmp_path):
    spend = np.exp(table.x / 6).round(2)
    spend[[0, 12, 24]] = 0
    table.assign(spend=spend, paid=spend + 1).to_csv(tmp_path / "t.csv", index=False)
    added = np.quantile(spend[spend > 0], 0.05, method="lower")
    report = tmp_path / "r.html"
    some = ("--criterion", "bic") if command == "compare" else ()
    taken = ("--id", "who", "--log", "spend,paid")
    done = run(command, tmp_path / "t.csv", *taken, "--report", report, *some, *OPTIONS)
    assert done.exit_code == 0, done.output
    text = html.unescape(report.read_text(encoding="utf-8"))
    assert f"Zero has no logarithm: added before, {added:.3g} to 'spend'." in text


@pytest.mark.parametrize("output", ["--labels=o.csv", "--report=o.html", "--json=o.json"])
def test_a_read_only_folder_is_refused_before_the_work(table, output, tmp_path, monkeypatch):
    # By what the system says of it: root, who may run these tests, may write to any folder.
    locked = tmp_path / "locked"
    locked.mkdir()
    table.to_csv(tmp_path / "t.csv", index=False)
    usual = os.access
    monkeypatch.setattr(os, "access", lambda file, *mode: file != locked and usual(file, *mode))
    monkeypatch.setattr(selection, "select_k", lambda *_, **__: 1 / 0)
    option, name = output.split("=")
    done = run("select", tmp_path / "t.csv", "--id", "who", option, locked / name)
    assert done.exit_code == 2, done.output
    assert f"Nothing can be written to the folder {locked}" in done.output.replace("\n", "")
    assert not list(locked.iterdir())


@posix_only
@pytest.mark.parametrize("force", [["--force"], []])
@pytest.mark.parametrize(
    "option", ["--labels=o.csv", "--table=o.csv", "--report=o.html", "--json=o.json",
               "--model=o.json", "--plot=o.svg"],
)  # fmt: skip
def test_a_pipe_is_refused_before_the_work(table, option, force, tmp_path, monkeypatch):
    table.to_csv(tmp_path / "t.csv", index=False)
    name, file = option.split("=")
    os.mkfifo(tmp_path / file)
    monkeypatch.setattr(selection, "select_k", lambda *_, **__: 1 / 0)
    done = run("select", tmp_path / "t.csv", "--id", "who", name, tmp_path / file, *force)
    assert done.exit_code == 2, done.output
    assert "is a named pipe. Name a file that is not there yet." in done.output.replace("\n", " ")
    drawn = run("simulate", "uniform", "--output", tmp_path / file, *force)
    assert drawn.exit_code == 2
    assert (tmp_path / file).is_fifo()
    assert len(list(tmp_path.iterdir())) == 2


@posix_only
def test_where_standard_output_goes_is_no_place_for_a_file(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    command = f"'{sys.executable}' -m edfkmeans select t.csv --id who --json o.json --force >o.json"
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, (tmp_path / "o.json").read_text(encoding="utf-8")) == (2, "")
    assert "o.json is open as standard output." in ran.stderr


@posix_only
def test_force_keeps_who_may_read_a_file(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    outputs = {"--labels": "l.csv", "--report": "r.html", "--json": "j.json", "--model": "m.json"}
    options = []
    for option, name in outputs.items():
        (tmp_path / name).write_text("old", encoding="utf-8")
        (tmp_path / name).chmod(0o600)
        options += [option, tmp_path / name]
    done = run("select", tmp_path / "t.csv", "--id", "who", *options, "--force", *OPTIONS)
    assert done.exit_code == 0, done.output
    for name in outputs.values():
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
        assert (tmp_path / name).stat().st_size > 100


@pytest.mark.parametrize("command", ["select", "compare"])
@pytest.mark.parametrize("name, said", [("-", "only JSON goes to"), ("", "is empty, or a dot")])
def test_names_of_files_that_are_none(table, command, name, said, tmp_path, monkeypatch):
    table.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.chdir(tmp_path)
    for option in ("--report", "--plot", "--json")[: 2 if name else 3]:
        done = run(command, "t.csv", "--id", "who", option, name)
        assert done.exit_code == 2, done.output
        assert said in done.output.replace("\n", " ")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("threads", ["0", "-3"])
def test_no_threads_for_numba_are_told_of(threads, table, tmp_path):
    table.drop(columns="who").to_csv(tmp_path / "t.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-m", "edfkmeans", "select", "t.csv", "--quiet"],
        cwd=tmp_path, env=os.environ | {"NUMBA_NUM_THREADS": threads}, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"NUMBA_NUM_THREADS={threads} must be 1 or more.")
