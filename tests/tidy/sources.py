"""The repository's files, as the tidy checks see them. Plain Python; used by the other modules of this folder."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPP = {".c", ".cpp", ".h", ".hpp"}


def repository_files(root=ROOT):
    """Returns the paths of files that are or could be committed, relative to the root; without git, of all files but
    builds."""
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:
        skip = re.compile(r"^(\.git|\.deps|\.venv|build|out|demo)/")
        names = [p.relative_to(root).as_posix() for p in root.rglob("*")]
        names = [name for name in names if not skip.match(name)]
    return sorted(name for name in set(names) if name and (root / name).is_file())


def cpp_files(root=ROOT):
    return [name for name in repository_files(root) if Path(name).suffix in CPP]


def without_comments_and_strings(text):
    """Returns C++ text with comments, strings and characters blanked out; line numbers do not change."""
    pattern = re.compile(
        r'R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"'  # raw string
        r"|//[^\n]*|/\*.*?\*/"
        r'|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",  # not the ' in 300'000
        re.DOTALL)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def report(complaints):
    """Prints the complaints; returns the exit code of a check."""
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0
