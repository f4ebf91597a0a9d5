"""Sites of several versions beside each other: add_version.py lists them, and each page offers the others."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import json
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("add_version", REPOSITORY / "docs/_ext/add_version.py")
assert _spec and _spec.loader
add_version = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(add_version)

LIST = re.sub(r"{#.*#}", "", (REPOSITORY / "docs/_templates/sidebar/versions.html").read_text())


@pytest.fixture
def site(tmp_path: pathlib.Path) -> pathlib.Path:
    """A built site of two pages, with the list of versions."""
    made = tmp_path / "html"
    (made / "howto").mkdir(parents=True)
    (made / "objects.inv").write_bytes(b"# Sphinx inventory version 2\n# Project: tailrace\n# Version: 0.2.0\n\xff\n")
    shutil.copy(REPOSITORY / "docs/_static/versions.js", made)
    for page, root in (("index.html", "./"), ("howto/index.html", "../")):
        text = LIST.replace("{{ content_root }}", root).replace("{{ release }}", "0.2.0")
        (made / page).write_text(f'<script src="{root}versions.js"></script>{text}')
    return made


def test_versions_are_listed_with_the_newest_release_first(site: pathlib.Path, tmp_path: pathlib.Path) -> None:
    root = tmp_path / "root"
    for name in ("0.2.0", "main", "0.10.0", "0.9.1", "0.2.0"):
        listed = add_version.add(site, root, name)
    assert listed == ["0.10.0", "0.9.1", "0.2.0", "main"]
    assert json.loads((root / "versions.json").read_text()) == {"versions": listed}
    assert "url=0.10.0/index.html" in (root / "index.html").read_text()
    assert (root / "0.9.1/howto/index.html").is_file()


def test_a_version_that_is_there_is_replaced(site: pathlib.Path, tmp_path: pathlib.Path) -> None:
    root = tmp_path / "root"
    add_version.add(site, root, "0.2.0")
    (root / "0.2.0/old.html").touch()
    add_version.add(site, root, "0.2.0")
    assert not (root / "0.2.0/old.html").exists()


def test_without_a_name_a_version_is_that_of_the_site(site: pathlib.Path, tmp_path: pathlib.Path) -> None:
    command = [sys.executable, REPOSITORY / "docs/_ext/add_version.py", site, tmp_path / "root"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "versions: 0.2.0\n"


@pytest.mark.parametrize("name", ["../0.2.0", "", ".", "a/b"])
def test_names_that_are_no_folder_are_refused(site: pathlib.Path, tmp_path: pathlib.Path, name: str) -> None:
    with pytest.raises(SystemExit, match="expected a name"):
        add_version.add(site, tmp_path / "root", name)


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder on this machine, and knows which pages were asked for."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.asked: queue.Queue[str] = queue.Queue()
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.put(self.path)
                super().do_GET()

        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def server(site: pathlib.Path, tmp_path: pathlib.Path) -> Iterator[Server]:
    """Serves two versions, of which the older one lacks a page."""
    root = tmp_path / "root"
    add_version.add(site, root, "0.2.0")
    (site / "howto/index.html").unlink()
    add_version.add(site, root, "0.1.0")
    with Server(root) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def browser(*options: str) -> list[str]:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        pytest.skip("there is no Chromium here")
    return [found, "--headless", "--no-sandbox", "--disable-gpu", *options]


def in_browser(page: str) -> str:
    """Returns the page's elements when its scripts have run."""
    command = browser("--virtual-time-budget=10000", "--dump-dom", page)
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout


def test_a_page_offers_all_versions(server: Server) -> None:
    shown = in_browser(f"{server.address}/0.1.0/index.html")
    assert re.findall(r'<option value="([^"]*)"', shown) == ["0.2.0", "0.1.0"] and "disabled" not in shown
    assert re.findall(r'<option value="([^"]*)" selected', shown) == ["0.1.0"]


# Chooses the older version as soon as the list has it.
CHOOSE = """
<script>
  const list = document.getElementById("versions");
  new MutationObserver(() => {
    list.value = "0.1.0";
    setTimeout(() => list.dispatchEvent(new Event("change")));
  }).observe(list, {childList: true});
</script>
"""


@pytest.mark.parametrize("page, expected", [("index.html", "/0.1.0/index.html"), ("howto/index.html", "/0.1.0/")])
def test_choosing_a_version_leads_to_its_page_or_else_to_its_beginning(
        server: Server, tmp_path: pathlib.Path, page: str, expected: str) -> None:
    file = tmp_path / "root/0.2.0" / page
    file.write_text(file.read_text() + CHOOSE)
    with subprocess.Popen(browser(f"--user-data-dir={tmp_path / 'profile'}", "--remote-debugging-port=0",
                                  f"{server.address}/0.2.0/{page}"), stderr=subprocess.DEVNULL) as process:
        while (asked := server.asked.get(timeout=600)) != expected:
            assert asked.startswith("/0.2.0/") or asked in ("/versions.json", "/favicon.ico"), asked
        process.terminate()


def test_a_site_of_one_version_shows_it(site: pathlib.Path) -> None:
    shown = in_browser((site / "index.html").as_uri())
    assert "<option>0.2.0</option>" in shown and "disabled" in shown
