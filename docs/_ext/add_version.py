"""Puts a built site beside those of other versions: `add_version.py HTML ROOT [NAME]`, such as `… build/docs/html
site main`. Without a name, it is the release that the site says it is.

ROOT is what a server serves: a folder for each version; `versions.json` with their names, the newest first, from
which each page makes its list; and `index.html`, which leads to the newest release. A version that is there already
is replaced. It changes nothing else in ROOT.
"""

import json
import pathlib
import re
import shutil
import sys

REDIRECT = """\
<!doctype html>
<meta charset="utf-8">
<title>tailrace</title>
<meta http-equiv="refresh" content="0; url={0}/index.html">
<a href="{0}/index.html">tailrace {0}</a>
"""


def age(name):
    """Returns what sorts the newest release first, and names that are no release, such as `main`, last."""
    numbers = [int(number) for number in re.findall(r"\d+", name)]
    is_release = re.fullmatch(r"\d+(\.\d+)*", name) is not None
    return not is_release, [-number for number in numbers], name


def add(site, root, name):
    """Returns the names of all versions, the newest first."""
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise SystemExit(f"found the version {name!r}, expected a name such as 0.1.0 or main")
    root.mkdir(parents=True, exist_ok=True)
    target = root / name
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(site, target)
    versions = sorted((path.parent.name for path in root.glob("*/objects.inv")), key=age)
    (root / "versions.json").write_text(json.dumps({"versions": versions}) + "\n", encoding="utf-8")
    (root / "index.html").write_text(REDIRECT.format(versions[0]), encoding="utf-8")
    return versions


def release_of(site):
    """Returns the version in the inventory that Sphinx has made."""
    with (site / "objects.inv").open("rb") as inventory:
        return next(line.split()[-1].decode() for line in inventory if line.startswith(b"# Version:"))


if __name__ == "__main__":
    site, root, *name = sys.argv[1:]
    site = pathlib.Path(site)
    print("versions:", *add(site, pathlib.Path(root), *name or [release_of(site)]))
