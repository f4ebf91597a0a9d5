"""`tailrace key`: what it makes and shows, and what it refuses. The library's reader has the same cases in
tests/transport/key_file_test.cpp."""

import os
import pathlib
import re
import stat
from collections.abc import Callable, Iterator

import pytest

Run = Callable[..., tuple[object, str, str]]

DIGITS = bytes(range(1, 33)).hex()
LINE = f"tailrace-key-1 {DIGITS}\n"
NAME = "17a2-f6b3-3888-cdfa"


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "key"


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def write(file: pathlib.Path, text: str, mode: int = 0o600) -> pathlib.Path:
    file.write_bytes(text.encode())
    file.chmod(mode)
    return file


def test_a_new_key_has_the_name_that_is_shown(run: Run, file: pathlib.Path) -> None:
    code, text, message = run("key", "new", file)
    match = re.fullmatch(rf"{re.escape(str(file))}: made, the name of the key is ([0-9a-f-]{{19}})\n", text)
    assert code == 0 and message == "" and match
    assert run("key", "show", file) == (0, f"{match[1]}\n", "")
    other = file.with_name("other")
    assert run("key", "new", other)[0] == 0
    assert run("key", "show", other)[1] != f"{match[1]}\n"


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_a_new_key_is_for_this_user_alone(run: Run, file: pathlib.Path, umask: Callable[[int], int],
                                          mask: int) -> None:
    umask(mask)
    assert run("key", "new", file)[0] == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert re.fullmatch(r"# A key of tailrace\. .*\ntailrace-key-1 [0-9a-f]{64}\n", file.read_text())


def test_a_key_is_never_replaced(run: Run, file: pathlib.Path) -> None:
    write(file, "precious")
    code, text, message = run("key", "new", file)
    assert code == 1 and text == "" and str(file) in message and "File exists" in message
    assert file.read_text() == "precious"
    link = file.with_name("link")
    link.symlink_to(file.with_name("none"))
    assert run("key", "new", link)[0] == 1
    assert not file.with_name("none").exists()
    assert "No such file" in run("key", "new", file.parent / "no" / "such")[2]


@pytest.mark.parametrize("text", [LINE, LINE.rstrip(), f"\n# tailrace-key-2\n\n{LINE}\n# end",
                                  f"tailrace-key-1 {DIGITS.upper()}\n"])
def test_the_name_is_that_of_the_library(run: Run, file: pathlib.Path, text: str) -> None:
    assert run("key", "show", write(file, text)) == (0, f"{NAME}\n", "")


@pytest.mark.parametrize(("text", "line", "word"), [
    ("", 1, "end of the file"),
    ("# only\n# comments\n", 3, "end of the file"),
    (f"{DIGITS}\n", 1, "found no key"),
    (f"#\n\nssh-rsa AAAA\n{LINE}", 3, "found no key"),
    (f" {LINE}", 1, "found no key"),
    (f"tailrace-key-{DIGITS}\n", 1, "no version"),
    (f"tailrace-key-1{DIGITS}\n", 1, "no version"),
    (f"tailrace-key-2 {DIGITS}\n", 1, "version 2"),
    (f"tailrace-key-1 {DIGITS[1:]}\n", 1, "63 characters"),
    (f"tailrace-key-1 {DIGITS}\r\n", 1, "65 characters"),
    ("tailrace-key-1 \n", 1, "0 characters"),
    (f"tailrace-key-1 {DIGITS[1:]}g\n", 1, "other characters than digits"),
    (f"tailrace-key-1 {DIGITS[1:]}\0\n", 1, "other characters than digits"),
    (f"tailrace-key-1 {'0' * 64}\n", 1, "key of zeros"),
    (f"{LINE}#\n{LINE}", 3, "more behind the key"),
])
def test_what_is_no_key_is_refused_with_its_line(run: Run, file: pathlib.Path, text: str, line: int,
                                                 word: str) -> None:
    code, printed, message = run("key", "show", write(file, text))
    assert code == 1 and printed == ""
    assert f"{file}:{line}: " in message and word in message and "expected" in message
    assert "0102" not in message.replace(str(file), ""), "shows the key"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602, 0o601, 0o777])
def test_a_file_that_others_can_use_is_refused(run: Run, file: pathlib.Path, mode: int) -> None:
    code, text, message = run("key", "show", write(file, LINE, mode))
    assert code == 1 and text == "" and f"mode {mode:04o}" in message and f"chmod 600 '{file}'" in message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_a_strangers_file_is_refused(run: Run, file: pathlib.Path) -> None:
    os.chown(write(file, LINE), 65534, 65534)
    assert "a file of user 65534; expected a key file of user 0" in run("key", "show", file)[2]


def test_what_is_no_file_is_refused_and_not_waited_for(run: Run, file: pathlib.Path) -> None:
    assert "No such file" in run("key", "show", file)[2]
    link = file.with_name("link")
    link.symlink_to(write(file, LINE))
    assert "is a symbolic link" in run("key", "show", link)[2]
    os.mkfifo(file.with_name("fifo"), 0o600)
    assert "no regular file" in run("key", "show", file.with_name("fifo"))[2]
    assert "is a directory" in run("key", "show", file.parent)[2]
    assert "more than 4096 bytes" in run("key", "show", write(file, LINE + "#" * 4096))[2]


def test_a_tilde_is_the_home_directory(run: Run, file: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(file.parent))
    assert run("key", "new", "~/key")[0] == 0
    assert file.exists() and run("key", "show", "~/key")[0] == 0


@pytest.mark.parametrize("arguments", [["key"], ["key", "new"], ["key", "show"], ["key", "lose", "x"]])
def test_wrong_usage(run: Run, arguments: list[str]) -> None:
    code, text, message = run(*arguments)
    assert code == 2 and text == "" and message.count("\n") == 1 and "--help" in message
