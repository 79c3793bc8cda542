import pytest

from edfkmeans._atomic import atomic_write


def interrupted(file):
    with atomic_write(file) as part:
        part.write_text("half", encoding="utf-8")
        raise KeyboardInterrupt


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        interrupted(file)
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_the_new_file_is_readable_as_any_other(tmp_path):
    (tmp_path / "other").write_text("", encoding="utf-8")
    with atomic_write(tmp_path / "a.txt") as part:
        part.write_text("new", encoding="utf-8")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "new"
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_folder_that_is_not_there_is_named(tmp_path):
    missing = pytest.raises(FileNotFoundError, match=r"There is no folder .*none to write a\.txt")
    with missing, atomic_write(tmp_path / "none" / "a.txt"):
        pass
