"""Results in files: every one says which sources it was made with, and stale ones are named."""

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
    for name, (script, _, parts) in provenance.RESULTS.items():
        assert (ROOT / name).exists(), name
        assert (ROOT / script).exists(), script
        assert len(provenance.digest(script, parts)) == 12


def test_a_digest_sees_statements_only():
    code = 'def f(x):\n    """Say."""\n    # why\n    return x + 1\n'
    same = "def f(x):\n\n    return x + 1  # because\n"
    assert provenance.bare(code) == provenance.bare(same)
    assert provenance.bare(code) != provenance.bare(same.replace("1", "2"))


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
