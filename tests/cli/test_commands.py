import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import edfkmeans
from conftest import blobs, posix_only
from edfkmeans import __main__, cli, select_k
from edfkmeans.cli import app, terminal
from edfkmeans.cli import outputs as cli_outputs
from edfkmeans.cli.chart import chart
from edfkmeans.cli.size import engine_for, memory_bytes, table_bytes
from edfkmeans.simulate import simulate


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def flat(result):
    return result.output.replace("\n", " ")


@pytest.fixture
def table(tmp_path):
    """A file with three clear groups, a name for each row and the group."""
    X, labels = blobs(3, n=40)
    frame = pd.DataFrame(X, columns=["height", "weight", "age"])
    frame.insert(0, "who", [f"person {i}" for i in range(len(frame))])
    frame["group"] = np.array(["a", "b", "c"])[labels]
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def numbers(frame):
    """The columns as the command line standardises them."""
    return StandardScaler().fit_transform(frame[["height", "weight", "age"]])


def same(one, other):
    """Equal but for the last digits: standardised by another formula."""
    if isinstance(one, dict):
        # The last digits may decide on which side of a split of the judge's a number falls.
        loose = {"agreement": 0.02, "near": 0.02}
        return one.keys() == other.keys() and all(
            one[key] == pytest.approx(other[key], abs=loose[key])
            if key in loose
            else same(one[key], other[key])
            for key in one
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return one == pytest.approx(other, rel=1e-9, abs=1e-12)
    return one == other


USED = ("--id", "who", "--drop", "group", "--k-max", 8)


def test_demo_answers_with_chart_and_table():
    result = run("demo")
    assert result.exit_code == 0
    said = re.match(r"(\d+) clusters; (\d.*; )?expected agreement \d\.\d\d \(", result.output)
    assert said is not None
    k = int(said[1])
    described = re.findall(r"^  cluster (\d+): .*(high|low) \w+", result.output, re.MULTILINE)
    assert [int(cluster) for cluster, _ in described] == list(range(k))
    assert "(scikit-learn's wine data: 178 rows, 13 columns)." in flat(result)
    assert "Columns standardised (--scale standard)." in result.output
    assert f"Why k = {k}: for it: " in result.output
    assert "Expected agreement against k, higher is better" in result.output
    assert "…" not in result.output  # nothing is cut off
    assert "chosen" in result.output


def test_the_former_method_shows_the_bic():
    result = run("demo", "--method", "combined")
    assert result.exit_code == 0
    assert result.output.startswith("3 clusters (scikit-learn's wine data: 178 rows, 13 columns).")
    assert "BIC against k, lower is better" in result.output
    assert "xpected agreement" not in result.output


def test_the_json_is_what_the_library_gives(table):
    result = run("select", table, *USED, "--seed", 5, "--json", "-")
    assert result.exit_code == 0
    found = json.loads(result.output)
    frame = pd.read_csv(table)
    selection = select_k(numbers(frame), 8, random_state=5)
    assert found["k"] == selection.k == 3
    assert found["as_good"] == list(selection.as_good)
    assert found["confidence"]["3"].keys() == {"agreement", "near"}
    assert found["reason"] == selection.reasons[3]
    assert found["resamples"] is None
    for name, value in json.loads(json.dumps(selection.to_dict())).items():
        assert same(found[name], value), name
    assert found["schema"] == 2
    assert found["columns"] == ["height", "weight", "age"]
    np.testing.assert_allclose(found["offset"], frame[found["columns"]].mean())
    rule = run("select", table, *USED, "--method", "paper", "--rule", "lowest", "--json", "-")
    expected = select_k(numbers(frame), 8, method="paper", rule="lowest", random_state=0)
    assert same(json.loads(rule.output)["table"], expected.to_dict()["table"])


def test_everything_is_written_whole_and_nothing_overwritten(table, tmp_path):
    files = [tmp_path / name for name in ("l.csv", "j.json", "r.html", "p.svg")]
    options = [
        w
        for pair in zip(("--labels", "--json", "--report", "--plot"), files, strict=True)
        for w in pair
    ]
    result = run("select", table, *USED, *options)
    assert result.exit_code == 0
    assert all(f"{file}" in result.output for file in files)
    assert sorted(tmp_path.iterdir()) == sorted([table, *files])
    labels = pd.read_csv(files[0])
    assert labels.columns.tolist() == ["who", "cluster", "ambiguity"]
    assert labels["who"].tolist() == pd.read_csv(table)["who"].tolist()
    assert (
        json.loads(files[1].read_text(encoding="utf-8"))["sizes"]
        == np.bincount(labels["cluster"]).tolist()
    )
    assert "<svg" in files[3].read_text(encoding="utf-8")
    before = [file.read_bytes() for file in files]
    again = run("select", table, *USED, *options)
    assert again.exit_code == 2
    assert "is there already. Name another file, or overwrite it with --force." in flat(again)
    assert [file.read_bytes() for file in files] == before
    assert run("select", table, *USED, *options, "--force").exit_code == 0


def test_labels_as_parquet_and_ids_that_a_spreadsheet_would_run(table, tmp_path):
    frame = pd.read_csv(table)
    frame.loc[0, "who"] = "=1+1"
    frame.to_csv(table, index=False)
    assert run("select", table, *USED, "--labels", tmp_path / "l.parquet").exit_code == 0
    assert pd.read_parquet(tmp_path / "l.parquet")["who"][0] == "=1+1"
    assert run("select", table, *USED, "--labels", tmp_path / "l.csv").exit_code == 0
    assert (tmp_path / "l.csv").read_text(encoding="utf-8").splitlines()[1].startswith("'=1+1,")


def test_quiet_prints_the_number_only(table):
    assert run("select", table, *USED, "--quiet").output == "3\n"


def test_standard_input(table):
    piped = CliRunner().invoke(
        app, ["select", "-", *map(str, USED), "--quiet"], input=table.read_bytes()
    )
    assert piped.output == "3\n"


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "There is no file"),
        ("", "bad.csv is empty."),
        ("a,b\n", "has a header but no rows."),
        ("a,b\n1,2\n3,x\n", "not numbers: 'b' (such as 'x' in row 2; 1 of 2 are no numbers"),
        ("a,b\n1,2\n,4\n5,6\n", "missing values in 1 of 3 rows: 'a' (1). Choose --missing drop"),
        ("a,b\n1,inf\n2,4\n5,6\n", "infinite values in 'b' (1)."),
        ("a,b\n1,2\n1,2\n1,2\n", "every column holds a single value"),
        ("a\n1\n2\n", "2 distinct rows and at least 4 are needed"),
        ("a,b\n1,2,3\n4,5,6\n", "line 2 has 3 fields and the first 2."),
        ("a,b,a\n1,2,3\n", "2 columns named 'a' (columns 1 and 3)."),
        (bytes(range(256)) * 9, "is not a table in text, nor Excel, Parquet, Feather, NPY or NPZ."),
    ],
)
def test_bad_files_say_what_to_do(tmp_path, content, message):
    file = tmp_path / "bad.csv"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    for command in ("select", "compare"):
        result = run(command, file)
        assert result.exit_code == 2
        assert message in flat(result)
        assert "Traceback" not in result.output


def test_a_file_without_header_keeps_its_first_row(tmp_path):
    X, _ = blobs(3, n=40)
    pd.DataFrame(X).to_csv(tmp_path / "own.csv", index=False, header=False)
    result = run("select", tmp_path / "own.csv", "--k-max", 6)
    assert "own.csv: 120 rows, 3 columns" in flat(result)
    assert "The first line holds numbers only" in flat(result)


def test_one_column_works(tmp_path):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(m, 1, 60) for m in (0, 10)])
    pd.DataFrame({"income": values}).to_csv(tmp_path / "one.csv", index=False)
    assert run("select", tmp_path / "one.csv", "--quiet").output == "2\n"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--rule", "paper"], "--rule paper is for --method paper and --method naive"),
        (
            ["--k-max", 500],
            "--k-max 500 needs at least 501 distinct rows; the table has 120. Lower --k-max.",
        ),
        (["--labels", "nowhere/l.csv"], "There is no folder nowhere to write l.csv to."),
        (["--plot", ".."], ".. is a folder. Name a file that is not there yet."),
        (["--plot", "p.magic"], "Name a .png, .svg or .pdf file."),
        (["--labels", "x.csv", "--report", "x.csv"], "x.csv is named for two outputs."),
        (["--labels", "l.xlsx"], "--labels l.xlsx: name a file that ends in .csv, .parquet, .pq."),
        (["--labels", "people.csv", "--force"], "people.csv is the table itself."),
        (["--id", "hoo"], "--id 'hoo': people.csv has no such column. Did you mean 'who'?"),
        (["--columns", "group"], "columns that are not numbers: 'group'"),
    ],
)
def test_bad_options_say_what_to_do(table, arguments, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    usual = [] if "--id" in arguments else ["--id", "who"]
    dropped = [] if "--columns" in arguments else ["--drop", "group"]
    result = run("select", "people.csv", *usual, *dropped, *arguments)
    assert result.exit_code == 2
    assert message in flat(result)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["people.csv"]


@pytest.mark.parametrize("command", ["select", "compare"])
def test_several_columns_or_files_in_a_row_are_told_about(table, command):
    result = run(command, table, "--log", "x", "y")
    words = " ".join(re.sub("[│╭╮╰╯─]", " ", result.output).split())
    assert result.exit_code == 2
    assert "(y). Name several columns one by one: --log a --log b; of several files name" in words


def test_odd_names_and_huge_values(tmp_path):
    X, _ = blobs(3, n=60)
    file = tmp_path / "q[bold].csv"
    pd.DataFrame(X * 1e300).to_csv(file, index=False)
    result = run("select", file, "--method", "paper", "--rule", "r-package")
    assert result.exit_code == 0
    assert result.output.startswith("3 clusters (")
    assert "q[bold].csv: 180 rows, 3 columns" in flat(result)


INTERRUPTED = """
import signal, sys, time
import numpy as np
from edfkmeans import __main__, selection
def slow(*a, **k):
    signal.raise_signal(signal.SIGINT)
    time.sleep(5)
selection.select_k = slow
sys.argv = ["edfkmeans", "select", *sys.argv[1:]]
__main__.main()
"""


# Python swallows what is raised in a callback from C, of which threadpoolctl has one.
SWALLOWED = INTERRUPTED.replace(
    "    signal.raise_signal(signal.SIGINT)\n",
    "    ctypes.CFUNCTYPE(None)(lambda: (signal.raise_signal(signal.SIGINT), time.sleep(0)))()\n",
).replace("import signal,", "import ctypes, signal,")


# Some libraries try whatever they can while they are imported, and catch whatever is raised.
CAUGHT = INTERRUPTED.replace(
    "    signal.raise_signal(signal.SIGINT)\n",
    "    try:\n"
    "        signal.raise_signal(signal.SIGINT)\n"
    "        time.sleep(0)\n"
    "    except BaseException:\n"
    "        pass\n",
)


@pytest.mark.parametrize(
    "script", [INTERRUPTED, SWALLOWED, CAUGHT], ids=["plain", "in a callback", "caught"]
)
def test_control_c_leaves_nothing_behind(script, table, tmp_path):
    outputs = ["--labels", "l.csv", "--json", "j.json", "--report", "r.html"]
    done = subprocess.run(
        [sys.executable, "-c", script, table.name, *map(str, USED), *outputs],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 130
    assert done.stderr == "\nInterrupted; nothing was written.\n"
    assert [file.name for file in tmp_path.iterdir()] == [table.name]


WRITING = """
import os, signal, sys, time
from edfkmeans import __main__
from edfkmeans.cli import outputs
number = getattr(signal, sys.argv.pop())
def slow(*_):
    print(sum(name.startswith(".") for name in os.listdir()), flush=True)
    signal.raise_signal(number)
    time.sleep(5)
outputs.about = slow
sys.argv = ["edfkmeans", "select", *sys.argv[1:]]
__main__.main()
"""


@posix_only
@pytest.mark.parametrize("name, code", [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_that_end_a_process_leave_no_part_of_a_file(name, code, table, tmp_path):
    # Whoever runs the tests may ignore some, as nohup does, and processes take that over.
    script = "import signal, sys; signal.signal(getattr(signal, sys.argv[-1]), signal.SIG_DFL)"
    outputs = ["--labels", "l.csv", "--json", "j.json", "--model", "m.json"]
    done = subprocess.run(
        [sys.executable, "-c", script + WRITING, table.name, *map(str, USED), *outputs, name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "3\n", done.stderr  # the parts were there
    assert done.returncode == code
    assert done.stderr == "\nInterrupted; nothing was written.\n"
    assert [file.name for file in tmp_path.iterdir()] == [table.name]


@posix_only
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_that_is_ignored_stays_so(name, table, tmp_path):
    """As by nohup."""
    script = "import signal, sys; signal.signal(getattr(signal, sys.argv[-1]), signal.SIG_IGN)"
    shorter = WRITING.replace("time.sleep(5)", "os._exit(7)")
    done = subprocess.run(
        [sys.executable, "-c", script + shorter, table.name, *map(str, USED), "--json=j", name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 7


@posix_only
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_when_all_is_done_changes_nothing(name):
    """Python takes its time to end, in which it knows no signals of ours."""
    script = """
import os, signal, sys
from edfkmeans import __main__
number = getattr(signal, sys.argv[1])
class Late:
    def __del__(self, write=os.write, send=signal.raise_signal, number=number):
        write(1, b"late")
        send(number)
late = Late()
sys.argv = ["edfkmeans", "--version"]
__main__.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, name], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("late")
    assert not done.stderr


def test_compare_tells_how_near_the_answers_are_to_the_truth(table, tmp_path):
    result = run(
        "compare", table, "--id", "who", "--truth", "group", "--k-max", 6, "--criterion", "bic",
        "--criterion", "silhouette", "--json", tmp_path / "c.json", "--plot", tmp_path / "c.png",
    )  # fmt: skip
    assert result.exit_code == 0
    assert re.search(r"silhouette +3 .*1\.000", result.output)
    found = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["criteria"]
    assert [(line["criterion"], line["k"], line["ari"]) for line in found][1] == (
        "silhouette",
        3,
        1.0,
    )
    assert (tmp_path / "c.png").stat().st_size > 1000
    assert "hardly a grouping" not in result.output
    many = run("compare", table, "--drop", "group", "--truth", "who", "--criterion", "bic")
    assert "'who' has 120 different values in 120 rows: hardly a grouping." in flat(many)
    unknown = run("compare", table, "--id", "who", "--truth", "groop")
    assert "--truth 'groop'" in flat(unknown)
    both = run("compare", table, "--id", "who", "--truth", "who")
    assert both.exit_code == 2


def test_rows_without_a_true_group_can_be_left_out(table):
    frame = pd.read_csv(table)
    frame["group"] = frame["group"].astype(str)
    frame.loc[3, "group"] = None
    frame.to_csv(table, index=False)
    options = ("--id", "who", "--truth", "group", "--k-max", 4, "--criterion", "bic")
    for missing in ((), ("--missing", "mean")):
        done = run("compare", table, *options, *missing)
        assert done.exit_code == 2
        told = f"--truth 'group' of {table.name} is missing in 1 of {len(frame)} rows."
        assert told in flat(done).replace(f"{table.parent}/", "")
        assert "--missing drop" in flat(done)
    done = run("compare", table, *options, "--missing", "drop")
    assert done.exit_code == 0, done.output
    assert f"{len(frame) - 1} rows, " in flat(done)
    assert "1 row without a group in 'group' (--truth) left out." in flat(done)
    frame["group"] = None
    frame.to_csv(table, index=False)
    nothing = run("compare", table, *options, "--missing", "drop")
    assert "holds nothing at all. Name another one." in flat(nothing)


@pytest.fixture
def parquet(table, tmp_path):
    """The same in a folder of three files."""
    frame = pd.read_csv(table)
    (tmp_path / "people.parquet").mkdir()
    for part in range(3):
        rows = frame[part * 40 : (part + 1) * 40]
        rows.to_parquet(tmp_path / "people.parquet" / f"part{part}.parquet", index=False)
    return tmp_path / "people.parquet"


@pytest.fixture(params=["dask", "arrow"])
def engine(request):
    """What reads rows that are not in memory."""
    package = {"arrow": "pyarrow", "dask": "dask.dataframe"}[request.param]
    pytest.importorskip(package, reason=f"needs {package}")
    return request.param


NUMBERS = ("--drop", "group", "--drop", "who", "--k-max", 8)
LAZY = ("--engine", "dask", *NUMBERS)


def test_rows_elsewhere_get_the_same_answer(parquet, table, tmp_path, engine):
    labels, report = tmp_path / "l.parquet", tmp_path / "r.html"
    lazily = ("--engine", engine, *NUMBERS)
    found = run("select", parquet, *lazily, "--json", "-", "--labels", labels, "--report", report)
    assert found.exit_code == 0, found.output
    memory = run("select", table, *USED, "--json", "-")
    lazy, here = json.loads(found.output), json.loads(memory.output)
    for name in ("k", "sizes", "columns", "table", "as_good", "confidence", "reason"):
        assert same(lazy[name], here[name]), name
    written = pd.read_parquet(labels)["cluster"]
    assert np.bincount(written).tolist() == lazy["sizes"]
    assert "in 120 rows and 3 columns" in report.read_text(encoding="utf-8")
    again = run("select", parquet, *lazily, "--labels", labels, "--force")
    if engine == "arrow":  # one file
        assert again.exit_code == 0
    else:
        assert again.exit_code == 2
        assert "l.parquet is a folder. Name a file that is not there yet." in flat(again)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--encode"], "--encode is for rows in memory."),
        (["--scale", "robust"], "--scale robust is for rows in memory."),
        (["--labels", "l.csv"], "labels are Parquet."),
        (["--id", "who"], "--id is for rows in memory. Do it before, or use --engine memory."),
        (["--columns", "nope"], "--columns 'nope': people.parquet has no such column."),
    ],
)
def test_what_cannot_be_done_elsewhere(parquet, engine, arguments, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = run("select", "people.parquet", "--engine", engine, *arguments)
    assert result.exit_code == 2
    assert message in flat(result)


def test_rows_elsewhere_that_are_not_there(tmp_path, table, engine):
    missing = run("select", tmp_path / "no.parquet", "--engine", engine)
    assert (missing.exit_code, "There is no file" in flat(missing)) == (2, True)
    text = run("select", table, "--engine", engine)
    assert (text.exit_code, "not numbers: 'who', 'group'" in flat(text)) == (2, True)


@pytest.mark.parametrize("scale", ["standard", "none"])
def test_rows_elsewhere_that_are_none_are_told_with_their_file(scale, parquet, tmp_path, engine):
    empty = tmp_path / "empty.parquet"
    pd.read_parquet(parquet).iloc[:0].to_parquet(empty)
    result = run("select", empty, "--engine", engine, "--scale", scale, *NUMBERS)
    assert result.exit_code == 2
    assert "empty.parquet has 0 rows, but at least 2 are needed." in flat(result)


def test_a_scheduler_is_for_dask(table):
    pytest.importorskip("dask.dataframe", reason="needs dask")
    address = ("--scheduler", "tcp://127.0.0.1:9")
    assert "No scheduler answers" in flat(run("select", table, "--engine", "dask", *address))
    for other in ([], ["--engine", "arrow"], ["--engine", "memory"]):
        lone = run("select", table, *other, *address)
        assert (lone.exit_code, "is for --engine dask" in flat(lone)) == (2, True)


@pytest.fixture
def little_memory(monkeypatch):
    """As if there were so many bytes."""
    return lambda size: monkeypatch.setattr("edfkmeans.cli.size.memory_bytes", lambda: size)


def test_a_table_that_takes_much_memory_is_streamed_and_says_so(parquet, little_memory, tmp_path):
    frame = pd.concat([pd.read_parquet(parquet)] * 100).drop(columns=["who", "group"])
    folder = tmp_path / "texts"
    folder.mkdir()
    for part in range(2):
        frame.to_csv(folder / f"{part}.csv", index=False)
    one = folder / "0.csv"
    size = one.stat().st_size
    for source, taken in (
        (one, size),
        (folder, 2 * size),
        (f"{folder}/*.csv", 2 * size),
        (parquet, sum(file.stat().st_size for file in parquet.iterdir())),
    ):
        arguments = ("select", source, "--k-max", 4, "--json", "-")
        arguments += NUMBERS[:4] if source == parquet else ()
        answers = []
        for memory in (3 * taken, 3 * taken - 3):
            little_memory(memory)
            done = CliRunner().invoke(app, [str(argument) for argument in arguments])
            assert done.exit_code == 0, done.output
            answers.append(json.loads(done.stdout))
            streamed = memory < 3 * taken
            assert ("more than a third of the" in done.stderr) == streamed, source
            assert ("read in a stream" in answers[-1]["notes"][0]) == streamed
        assert same(answers[0]["table"], answers[1]["table"])
        assert answers[0]["sizes"] == answers[1]["sizes"]
    frame.to_parquet(tmp_path / "all.parquet")
    assert table_bytes(str(tmp_path / "all.parquet")) >= 8 * frame.size
    little_memory(1)
    refused = run("select", one, "--missing", "drop")
    assert "--missing is for rows in memory. Do it before, or use --engine memory." in flat(refused)
    insisted = run("select", one, "--engine", "memory", "--k-max", 3, "--quiet")
    assert insisted.exit_code == 0
    little_memory(None)
    assert engine_for(str(one)) == ("memory", "")


def test_the_memory_there_is():
    assert 2**26 < memory_bytes() < 2**50


@pytest.mark.parametrize(
    "content",
    [
        b"a;b;c\n1,5;2,25;3\n",
        b"\n\na\tb\tc\n1.5\t2.25\t3\n",
        b"1.5,2.25,3\n",
        "\ufeffa,b,c\n1.5, 2.25,3\n".encode(),
        "größe,b,c\n1.5,2.25,3\n".encode("cp1252"),
        "a,b,c\n1.5,2.25,3\n".encode("utf-16"),
        b"a,b,c\r\n1.5,2.25,3\r\n",
    ],
    ids=["decimal comma", "blank lines", "no header", "mark", "cp1252", "utf-16", "crlf"],
)
def test_text_in_a_stream_is_read_like_text_in_memory(content, tmp_path):
    """Rows are repeated with other numbers, so that there is something to cluster."""
    encoding = "utf-16" if content[:2] == b"\xff\xfe" else "latin-1"
    head, _, last = content.decode(encoding).rstrip().rpartition("\n")
    ending = "\r\n" if "\r" in head else "\n"
    rows = [last.replace("5", str(i % 10)).replace("3", str(i * i % 17)) for i in range(60)]
    text = ending.join([*([head.rstrip("\r")] if head else []), *rows]) + ending
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    answers = []
    for engine in ("memory", "arrow"):
        done = run("select", tmp_path / "t.csv", "--engine", engine, "--k-max", 4, "--json", "-")
        assert done.exit_code == 0, done.output
        answers.append(json.loads(done.stdout))
    for name in ("columns", "sizes", "table", "offset", "spread", "n_samples"):
        assert same(answers[1][name], answers[0][name]), name
    assert set(answers[0]["notes"]) >= set(answers[1]["notes"])


def test_blanks_between_columns_are_not_streamed(tmp_path):
    (tmp_path / "t.csv").write_text("1 2\n3 4\n5 6\n7 8\n", encoding="utf-8")
    told = run("select", tmp_path / "t.csv", "--engine", "arrow")
    assert (told.exit_code, "has blanks between its columns" in flat(told)) == (2, True)


@pytest.mark.parametrize("engine", [[], ["--engine", "arrow"]])
def test_addresses_and_folders_are_tables_too(engine, parquet, table):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec")
    memory = fsspec.filesystem("memory")
    want = json.loads(run("select", table, *USED, "--json", "-").stdout)
    try:
        memory.put(str(table), "/people.csv")
        memory.put(str(parquet), "/people/", recursive=True)
        memory.put(str(parquet / "part0.parquet"), "/one.parquet")
        for source in (parquet, "memory://people.csv", "memory://people", "memory://people/*/*"):
            done = run("select", source, *NUMBERS, *engine, "--json", "-")
            assert done.exit_code == 0, done.output
            assert same(json.loads(done.stdout)["table"], want["table"])
        assert run("select", "memory://one.parquet", *NUMBERS, *engine).exit_code == 0
        missing = run("select", "memory://none.csv", *engine)
        assert (missing.exit_code, "There is no file" in flat(missing)) == (2, True)
    finally:
        for place in ("/people.csv", "/people", "/one.parquet"):
            if memory.exists(place):
                memory.rm(place, recursive=True)


def test_simulate_writes_what_the_library_draws(tmp_path):
    file = tmp_path / "s.csv"
    arguments = ("simulate", "long-tails", "--k", 4, "--d", 2, "--n", 50, "--seed", 3)
    assert run(*arguments, "--output", file).exit_code == 0
    X, labels = simulate("long tails", 4, 2, 50, random_state=3)
    found = pd.read_csv(file)
    np.testing.assert_allclose(found[["x1", "x2"]], X)
    assert (found["cluster"] == labels).all()
    assert run(*arguments).output == file.read_text(encoding="utf-8")
    assert "s.csv is there already" in flat(run(*arguments, "--output", file))
    few = run("simulate", "uniform", "--k", 9, "--n", 5)
    assert few.exit_code == 2
    assert "n=5 must be a whole number, 9 or more." in flat(few)


def test_info_names_the_versions():
    output = run("info").output
    assert f"edfkmeans     {edfkmeans.__version__}" in output
    assert re.search(r"numba +\d", output)


def test_version():
    assert run("--version").output == f"edfkmeans {edfkmeans.__version__}\n"


def test_a_folder_is_not_a_table(tmp_path):
    result = run("select", tmp_path)
    assert result.exit_code == 2
    assert "is a folder without a file that ends in .parquet" in flat(result)
    assert "Name the file with the table in it." in flat(result)


def test_help_shows_examples():
    for command in ("select", "compare", "demo", "assign", "simulate", "info"):
        assert f"edfkmeans {command}" in run(command, "--help").output


def test_chart_marks_every_k():
    values = [9.0, 4.0, 1.0, 3.0, 2.0, 6.0]
    drawn = chart(values, chosen=3, minima=[5], width=40)
    # four dots are marks, four are the decimal points of the axis
    assert (drawn.count("O"), drawn.count("o"), drawn.count(".")) == (1, 1, 4 + 4)
    assert max(map(len, drawn.splitlines())) <= 40
    assert chart([2.0, 2.0], chosen=1, minima=[]).count("O") == 1
    assert len(max(chart(list(np.arange(30.0)), 1, [], 80).splitlines(), key=len)) <= 80


def test_compare_prints_a_line_for_each_criterion(tmp_path):
    X, _ = blobs(3, n=30)
    file = tmp_path / "own.csv"
    pd.DataFrame(X).to_csv(file, index=False)
    result = run("compare", file, "--k-max", 6, "--criterion", "bic", "--criterion", "silhouette")
    assert result.exit_code == 0
    assert "own.csv: 90 rows, 3 columns" in flat(result)
    assert [line.split()[:2] for line in result.output.splitlines()[-4:-2]] == [
        ["bic", "3"],
        ["silhouette", "3"],
    ]
    assert result.output.splitlines()[-2] == "2 of 2 criteria say 3."
    assert result.output.splitlines()[-1].startswith("All agree on 3")
    bad = run("compare", file, "--criterion", "magic")
    assert bad.exit_code == 2
    assert "There is no criterion 'magic'" in bad.output.replace("\n", " ")


def test_resamples_are_told_where_they_are_asked_for(table):
    asked = run("select", table, *USED, "--resample")
    assert re.search(r"; chosen in \d+ % of 20 resamples", flat(asked))
    assert "of 20 resamples" not in flat(run("select", table, *USED))
    assert run("select", table, *USED, "--resample", "--quiet").output == "3\n"
    found = json.loads(run("select", table, *USED, "--resample", "--json", "-").output)
    selection = select_k(numbers(pd.read_csv(table)), 8, random_state=0, resample=True)
    assert found["resamples"] == {str(k): share for k, share in selection.resamples.items()}


@pytest.mark.parametrize("option", ["--confidence", "--no-confidence", "--no-resample"])
def test_former_options_are_refused(option, table):
    result = run("select", table, *USED, option)
    assert result.exit_code == 2
    assert "No such option" in flat(result)


def test_the_entry_point(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["edfkmeans", "--version"])
    with pytest.raises(SystemExit) as end:
        __main__.main()
    assert not end.value.code
    assert capsys.readouterr().out == f"edfkmeans {edfkmeans.__version__}\n"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(cli, "main", lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(SystemExit) as end:
        __main__.main()
    assert end.value.code == 130
    assert capsys.readouterr().err == "\nInterrupted; nothing was written.\n"


@pytest.mark.parametrize("outputs, said", [(["--json", "j.json"], True), ([], False)])
def test_an_interrupt_after_the_files_says_so(outputs, said, table, monkeypatch, tmp_path):
    def interrupted(*_):
        raise __main__.Interrupted(130)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal, "show_selection", interrupted)
    result = run("select", table, *USED, *outputs)
    assert result.exit_code == 130
    assert ("Interrupted; the files were written." in result.output) == said
    assert (tmp_path / "j.json").exists() == said


def test_outputs_are_written_together_or_not_at_all(table, monkeypatch, tmp_path):
    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli_outputs, "about", full)  # the last file of all
    outputs = ["--labels", "l.csv", "--report", "r.html", "--plot", "p.svg", "--json", "j.json"]
    assert run("select", table, *USED, *outputs).exit_code == 2
    assert [file.name for file in tmp_path.iterdir()] == [table.name]


def test_labels_in_chunks_leave_no_part(parquet, monkeypatch, tmp_path):
    pytest.importorskip("dask.dataframe", reason="needs dask")
    from edfkmeans.engines import dask, dask_files  # the latter must not see the patch

    assert dask_files.write_labels is dask.write_labels

    def cut_off(labels, folder):
        folder.mkdir()
        raise OSError("No space left on device")

    labels = tmp_path / "l.parquet"
    with monkeypatch.context() as broken:
        broken.setattr(dask, "write_labels", cut_off)
        done = run("select", parquet, *LAZY, "--labels", labels)
        assert done.exit_code == 2
        assert "Nothing was written: No space left on device." in flat(done)
    assert not list(tmp_path.glob(".l*"))
    assert run("select", parquet, *LAZY, "--labels", labels).exit_code == 0


@posix_only
def test_a_reader_that_has_had_enough():
    command = f"'{sys.executable}' -m edfkmeans simulate uniform --n 20000 | head -n 1; "
    done = subprocess.run(
        ["bash", "-c", command + "exit ${PIPESTATUS[0]}"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "x1,x2,x3,x4,x5,cluster\n"


@posix_only
def test_a_reader_that_has_had_enough_of_an_answer_with_files(table, tmp_path):
    options = f"--id who --drop group --k-max 6 --labels '{tmp_path}/l.csv'"
    command = f"'{sys.executable}' -m edfkmeans select '{table}' {options} | head -n 1; "
    done = subprocess.run(
        ["bash", "-c", command + "exit ${PIPESTATUS[0]}"], capture_output=True, text=True
    )
    assert (done.returncode, "Interrupted" in done.stderr) == (0, False)
    assert len(pd.read_csv(tmp_path / "l.csv")) == 120


def test_names_in_a_locale_without_their_letters(tmp_path):
    X, _ = blobs(2, n=8)
    pd.DataFrame(X, columns=["größe", "é", "x"]).to_csv(tmp_path / "tablé.csv", index=False)
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    options = ["--labels", "läbel.csv", "--json", "j.json", "--report", "r.html"]
    done = subprocess.run(
        [sys.executable, "-m", "edfkmeans", "select", "tablé.csv", *options],
        cwd=tmp_path, env=os.environ | plain, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "j.json").read_text(encoding="utf-8"))["source"] == "tablé.csv"
    assert (tmp_path / "läbel.csv").exists()
    piped = subprocess.run(
        [sys.executable, "-m", "edfkmeans", "select", "tablé.csv", "--json", "-"],
        cwd=tmp_path, env=os.environ | plain, capture_output=True,
    )  # fmt: skip
    assert json.loads(piped.stdout.decode("ascii"))["columns"] == ["größe", "é", "x"]


def test_rows_of_zeros_have_no_direction(tmp_path):
    X, _ = blobs(3)
    X[7] = 0
    file = tmp_path / "zeros.csv"
    pd.DataFrame(X, columns=list("abc")).to_csv(file, index=False)
    done = run("select", file, "--metric", "cosine")
    assert done.exit_code == 2
    told = " ".join(done.output.split())
    assert "1 row holds nothing but zeros, which has none: 7" in told
    assert told.endswith("Leave out such rows and keep them as a group of their own.")
