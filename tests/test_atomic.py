import pytest

from edfkmeans._atomic import atomic_write


def interrupted(file):
    with atomic_write(file) as part:
        part.write_text("half")
        raise KeyboardInterrupt


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        interrupted(file)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_the_new_file_is_readable_as_any_other(tmp_path):
    (tmp_path / "other").write_text("")
    with atomic_write(tmp_path / "a.txt") as part:
        part.write_text("new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "other").stat().st_mode
