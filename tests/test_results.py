"""Results in files: every one says which sources it was made with, and stale ones are named."""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "experiments"))
import provenance  # noqa: E402


class StaleResultsWarning(UserWarning):
    """Results that were made with other sources than those that are here."""


def test_stale_results_are_named():
    """Not a failure: what is stale takes hours to make again, and the warning stays until then."""
    names = provenance.stale()
    assert set(names) <= set(provenance.RESULTS)
    if names:
        warnings.warn(
            f"made with other sources, run `make results`: {', '.join(names)}",
            StaleResultsWarning,
            stacklevel=1,
        )


def test_every_result_has_its_script_and_is_there():
    for name, (script, _, asked) in provenance.RESULTS.items():
        assert (ROOT / name).exists(), name
        assert (ROOT / script).exists(), script
        assert len(provenance.digest(script, asked)) == 12


def _names(script, asked=()):
    files = provenance.reached(ROOT, script, asked)
    return {file.relative_to(ROOT).as_posix().removeprefix("src/edfkmeans/") for file in files}


def test_a_result_depends_on_what_its_script_reaches():
    answers = _names("experiments/dof_accuracy.py")
    lazily, model, every_criterion = "dof/bootstrap.py", "choosing/judge.npz", "criteria/gap.py"
    assert {"selection.py", lazily, model, every_criterion, "engines/memory.py"} <= answers
    assert not {name for name in answers if name.startswith(("report/", "engines/spark", "cli/"))}
    fits = _names("benchmarks/peers.py")
    assert "fits/search.py" in fits
    assert "selection.py" not in fits
    assert not {name for name in fits if name.startswith(("choosing/", "criteria/"))}
    assert {"engines/cuda.py", "kernels/terms.cu"} <= _names("benchmarks/gpu.py", ("cuda",))
    spark = _names("benchmarks/large.py", ("spark",))
    assert {"engines/_spark_draws.py", "benchmarks/large_spark.py"} <= spark
    assert "engines/dask.py" not in spark
    assert {"cli/commands.py", "report/page.py"} <= _names("benchmarks/start.py", ("everything",))


def test_a_mark_is_carried_over_where_nothing_has_changed(one):
    rows, script = one
    other = script.with_name("other.py")
    other.write_text("y = 1\n", encoding="utf-8")
    # The rules at the time of the mark: a digest of the whole folder.
    (script.parent / "provenance.py").write_text(
        "import hashlib, pathlib\nRESULTS = {'rows.csv': ('experiments/study.py', (), ())}\n"
        "def digest(script, parts):\n"
        "    text = ''.join(pathlib.Path(f).read_text() for f in ('study.py', 'other.py'))\n"
        "    return hashlib.sha256(text.encode()).hexdigest()[:12]\n",
        encoding="utf-8",
    )
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "."), (*person, "commit", "-qm", "first")):
        provenance.git(*words)
    commit = provenance.commit()
    assert len(commit) == 40
    coarse = hashlib.sha256(b"x = 1\ny = 1\n").hexdigest()[:12]
    text = f"# commit {commit}, sources {coarse}\nk\n3\n"
    other.write_text("y = 2\n", encoding="utf-8")  # nothing that the script reaches
    rows.write_text(text, encoding="utf-8")
    assert provenance.carry(provenance.stale()) == ["rows.csv"]
    assert provenance.stale() == []
    assert commit in rows.read_text(encoding="utf-8")
    rows.write_text(text.replace(coarse, "0" * 12), encoding="utf-8")  # no commit has that digest
    assert provenance.carry(provenance.stale()) == []
    rows.write_text(text, encoding="utf-8")
    script.write_text("x = 2\n", encoding="utf-8")
    assert provenance.carry(provenance.stale()) == []


def test_a_digest_sees_statements_only():
    code = 'def f(x):\n    """Say."""\n    # why\n    return x + 1\n'
    same = "def f(x):\n\n    return x + 1  # because\n"
    assert provenance.bare(code) == provenance.bare(same)
    assert provenance.bare(code) != provenance.bare(same.replace("1", "2"))
    refusal = "if x:\n    raise ValueError('no')\n"
    assert provenance.bare(refusal) == provenance.bare(refusal.replace("no", "not so"))
    assert provenance.bare(refusal) != provenance.bare(refusal.replace("ValueError", "KeyError"))


@pytest.fixture
def one(tmp_path, monkeypatch):
    """A project with one script and one result."""
    (tmp_path / "experiments").mkdir()
    script = tmp_path / "experiments" / "study.py"
    script.write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.setattr(provenance, "RESULTS", {"rows.csv": ("experiments/study.py", (), ())})
    return tmp_path / "rows.csv", script


def test_a_result_goes_stale_with_its_sources(one):
    rows, script = one
    assert provenance.stale() == ["rows.csv"]
    rows.write_text(f"# a command\n{provenance.line('rows.csv')}\nk\n3\n", encoding="utf-8")
    assert provenance.stale() == []
    script.write_text("x = 1  # one\n", encoding="utf-8")
    assert provenance.stale() == []
    script.write_text("x = 2\n", encoding="utf-8")
    assert provenance.stale() == ["rows.csv"]


def test_what_is_unfinished_goes_on_and_what_is_stale_begins_anew(one, capfd):
    rows, script = one
    script.write_text(
        "from pathlib import Path\nfile = Path('rows.csv')\n"
        "print('begun with', file.exists())\nfile.write_text('done')\n",
        encoding="utf-8",
    )
    for text, kept in ((provenance.line("rows.csv", done=False), True), ("# old\n", False)):
        rows.write_text(text, encoding="utf-8")
        assert provenance.stale() == ["rows.csv"]
        provenance.run(["rows.csv"])
        assert f"begun with {kept}" in capfd.readouterr().out
        assert rows.read_text(encoding="utf-8") == "done"
        assert not rows.with_name("rows.csv.stale").exists()


def test_a_study_is_fresh_when_its_last_runs_are(tmp_path):
    file = tmp_path / "runs.json"
    runs = [{"study": study, "sources": "old"} for study in provenance.STUDIES]
    file.write_text(json.dumps(runs), encoding="utf-8")
    assert provenance.told(file) == ("sources", "old")
    runs += [{"study": study, "sources": "new"} for study in provenance.STUDIES[:3]]
    file.write_text(json.dumps(runs), encoding="utf-8")
    assert provenance.told(file) == ("", "")
    runs.append({"study": provenance.STUDIES[3], "sources": "new"})
    file.write_text(json.dumps(runs), encoding="utf-8")
    assert provenance.told(file) == ("sources", "new")
