"""Files under tailrace's own names, where another user has put links and files under these names."""

import os
import pathlib

import pytest

from tailrace import own_file


def test_a_link_is_never_written_through(tmp_path: pathlib.Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for target in (victim, tmp_path / "none"):
        part = tmp_path / "result.json.part"
        part.symlink_to(target)
        with pytest.raises(OSError, match="a symbolic link of user"):
            own_file.write_whole(tmp_path / "result.json", "{}")
        part.unlink()
    assert victim.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["victim"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_a_strangers_file_stays(tmp_path: pathlib.Path) -> None:
    part = tmp_path / "result.json.part"
    part.write_text("theirs")
    os.chown(part, 65534, 65534)
    with pytest.raises(OSError, match="of user 65534"):
        own_file.write_whole(tmp_path / "result.json", "{}")
    assert part.read_text() == "theirs"


def test_what_an_earlier_run_left_is_taken_away_not_written_into(tmp_path: pathlib.Path) -> None:
    part = tmp_path / "result.json.part"
    part.write_text("left")
    os.link(part, tmp_path / "second")
    own_file.write_whole(tmp_path / "result.json", "{}")
    assert (tmp_path / "result.json").read_text() == "{}"
    assert (tmp_path / "second").read_text() == "left"
    assert not part.exists()
