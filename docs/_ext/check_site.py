"""Checks the built site: `check_site.py HTML REPOSITORY`. Each link inside it leads to a page and to an anchor there,
each page has the list of versions and a link to edit it, and each reference has an entry for everything that it is
the reference of."""

import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and anchors of a page, and its text."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.text = set(), set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(found[name] for name in ("id", "name") if found.get(name))
        self.links.update(found[name] for name in ("href", "src") if found.get(name))

    def handle_data(self, data):
        self.text.append(data)


def broken_links(site, pages):
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.exists():
                yield f"{path.relative_to(site)}: {link} leads to no file"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{path.relative_to(site)}: {link} leads to no anchor"


def expected(repository):
    """Returns for each page of the reference the words that must stand in it."""
    header = (repository / "include/tailrace/tailrace.h").read_text()
    module = (repository / "bindings/fortran/tailrace.f90").read_text()
    package = (repository / "python/tailrace/__init__.py").read_text()
    commands = (repository / "python/tailrace/cli/__init__.py").read_text()
    listed = re.search(r"__all__ = \[(.*?)\]", package, re.DOTALL)[1]
    return {
        "c": re.findall(r"^TAILRACE_API .*?(tailrace_\w+)\(", header, re.MULTILINE),
        "cpp": ["Client", "Ticket", "File", "Error", "Options", "split", "open", "recover", "check"],
        "fortran": re.findall(r"^    procedure :: (\w+) =>", module, re.MULTILINE),
        "python": [name for name in re.findall(r'"(\w+)"', listed) if not name.startswith("__")],
        "command-line": re.findall(r'"(\w+)"', re.search(r"COMMANDS = \((.*?)\)", commands, re.DOTALL)[1])}


def missing_entries(site, pages, repository):
    for name, words in expected(repository).items():
        text = "".join(pages[site / "reference" / f"{name}.html"].text)
        if not words:
            yield f"reference/{name}: the code has nothing that it could be the reference of"
        for word in words:
            if not re.search(rf"\b{word}\b", text):
                yield f"reference/{name}: no entry for {word}"


def missing_parts(site, pages, docs):
    for source in sorted(docs.rglob("*.md")):
        name = source.relative_to(docs)
        page = pages.get(site / name.with_suffix(".html"))
        if page is None:
            yield f"{name}: the site has no such page"
        elif "versions" not in page.anchors:
            yield f"{name}: its page has no list of versions"
        elif not any(link.endswith(f"/edit/main/docs/{name}") for link in page.links):
            yield f"{name}: its page has no link to edit it"


def main():
    site, repository = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    complaints = [*broken_links(site, pages), *missing_parts(site, pages, repository / "docs"),
                  *missing_entries(site, pages, repository)]
    print(*complaints, sep="\n")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
