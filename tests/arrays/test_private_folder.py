"""Folders for compiled code: made for one user alone, and refused where somebody else could have written to them."""

import os
import stat

import pytest

from jaxmotif.arrays._private_folder import make_private, user_cache_folder, why_not_private

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners and modes here")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "cache" / "loops"
    make_private(made)
    return made


def test_every_level_is_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made = tmp_path / "some" / "levels"
        make_private(made)
        make_private(made)  # again: nothing is wrong with what is there
    finally:
        os.umask(before)
    assert [stat.S_IMODE(os.lstat(level).st_mode) for level in (made, made.parent)] == [0o700, 0o700]
    assert why_not_private(made) is None


def test_a_file_in_the_place_of_a_folder(tmp_path):
    (tmp_path / "cache").write_text("")
    for folder in (tmp_path / "cache", tmp_path / "cache" / "loops"):
        with pytest.raises(NotADirectoryError, match=f"Not a directory: '{folder}'"):
            make_private(folder)


def test_files_and_folders_of_the_user_are_fine(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "code").write_text("")
    assert why_not_private(folder) is None


@pytest.mark.parametrize(("level", "mode"), [(".", 0o770), ("..", 0o777)])
def test_an_open_folder_is_refused(folder, level, mode):
    (folder / level).chmod(mode)
    assert "others may write to" in (why_not_private(folder) or "")


def test_a_file_that_others_may_write_to_is_refused_where_they_can_reach_it(folder):
    (folder / "code").write_text("")
    (folder / "code").chmod(0o664)
    assert why_not_private(folder) is None
    folder.chmod(0o755)
    assert "code may be another user's" in (why_not_private(folder) or "")


def test_a_level_above_may_be_sticky(folder):
    folder.parent.chmod(0o1777)  # as /tmp is
    assert why_not_private(folder) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("path", [".", "code", ".."])
def test_what_belongs_to_somebody_else_is_refused(folder, path):
    (folder / "code").write_text("")
    os.chown(folder / path, 4321, -1)
    assert "another user" in (why_not_private(folder) or "")


def test_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache_folder() == tmp_path / "jaxmotif"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache_folder() == tmp_path / ".cache" / "jaxmotif"
