import os
import stat

import pytest

from conftest import posix_only
from edfkmeans._atomic import atomic_write, place


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


@posix_only
@pytest.mark.parametrize("link", [False, True])
def test_what_is_no_file_stays_what_it_is(link, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    named = tmp_path / "link"
    named.symlink_to(pipe)
    refused = pytest.raises(ValueError, match=r"is a named pipe\. Name a file that")
    with refused, atomic_write(named if link else pipe):
        raise AssertionError
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert len(list(tmp_path.iterdir())) == 2
    part = tmp_path / "part"
    part.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="is a named pipe"):  # it came in the meantime
        place(part, pipe, overwrite=True)
    assert place(part, pipe, overwrite=False) == tmp_path / "pipe-2"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix_only
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_those_who_might_not_read_a_file_may_not_read_the_new_one(mode, tmp_path):
    file, folder = tmp_path / "a.txt", tmp_path / "part"
    file.write_text("old", encoding="utf-8")
    file.chmod(mode)
    with atomic_write(file) as part:
        part.write_text("new", encoding="utf-8")
        assert not part.stat().st_mode & 0o077
    assert file.read_text(encoding="utf-8") == "new"
    assert file.stat().st_mode & 0o777 == mode
    folder.mkdir()
    place(folder, file, overwrite=True)
    assert file.stat().st_mode & 0o666 == mode
    assert bool(file.stat().st_mode & 0o100) == bool(mode & 0o400)
    assert not file.stat().st_mode & 0o007 or mode & 0o004


@posix_only
def test_what_is_behind_a_link_is_written_whole(tmp_path):
    folder, link = tmp_path / "far", tmp_path / "link.txt"
    folder.mkdir()
    (folder / "a").write_text("old", encoding="utf-8")
    link.symlink_to("far/a")
    with atomic_write(link) as part:
        assert part.parent == folder.resolve()  # which may be on another disk
        part.write_text("new", encoding="utf-8")
    assert link.is_symlink()
    assert (folder / "a").read_text(encoding="utf-8") == "new"
    assert len(list(folder.iterdir())) == 1
