"""The check of the built site finds broken links, and references without an entry."""

from __future__ import annotations

import importlib.util
import pathlib

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("check_site", REPOSITORY / "docs/_ext/check_site.py")
assert _spec and _spec.loader
check_site = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_site)


def pages_of(site: pathlib.Path) -> dict[pathlib.Path, object]:
    return {path: check_site.Page(path) for path in site.rglob("*.html")}


@pytest.fixture
def site(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "reference").mkdir()
    (tmp_path / "index.html").write_text('<a href="other.html#here">x</a><a href="#top">y</a><h1 id="top">z</h1>')
    (tmp_path / "other.html").write_text('<p id="here">here</p><a href="https://example.org/nowhere">far</a>')
    return tmp_path


def test_links_that_lead_somewhere_are_accepted(site: pathlib.Path) -> None:
    assert list(check_site.broken_links(site, pages_of(site))) == []


@pytest.mark.parametrize("link", ["nowhere.html", "other.html#nowhere", "#nowhere", "image.png"])
def test_broken_links_are_found(site: pathlib.Path, link: str) -> None:
    (site / "more.html").write_text(f'<a href="{link}">x</a>')
    found = list(check_site.broken_links(site, pages_of(site)))
    assert len(found) == 1 and link in found[0]


def test_pages_without_versions_or_a_link_to_edit_them_are_found(site: pathlib.Path, tmp_path: pathlib.Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("absent", "index", "other", "whole"):
        (docs / f"{name}.md").touch()
    (site / "other.html").write_text('<b id="versions"></b>')
    (site / "whole.html").write_text('<b id="versions"></b><a href="https://x/edit/main/docs/whole.md">e</a>')
    assert list(check_site.missing_parts(site, pages_of(site), docs)) == [
        "absent.md: the site has no such page", "index.md: its page has no list of versions",
        "other.md: its page has no link to edit it"]


def test_what_a_reference_lacks_is_found(site: pathlib.Path) -> None:
    words = check_site.expected(REPOSITORY)
    for name, listed in words.items():
        assert listed, name
        (site / "reference" / f"{name}.html").write_text(" ".join(listed))
    assert list(check_site.missing_entries(site, pages_of(site), REPOSITORY)) == []
    (site / "reference/c.html").write_text(" ".join(words["c"][1:]))
    assert list(check_site.missing_entries(site, pages_of(site), REPOSITORY)) == \
        [f"reference/c: no entry for {words['c'][0]}"]
