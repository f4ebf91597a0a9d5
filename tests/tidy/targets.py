#!/usr/bin/env python3
"""CMake's folders of src, and the page that shows them, beside the layer law (layers.py has the only table). Run as a
script, it checks the repository.

Each folder of the law is a target (`tailrace_folder`) and each target a folder of the law. By the law, a target may
include what it USES; and it uses what its files include, directly or through what it uses. docs/ARCHITECTURE.md shows
the table in the form of markdown(); `targets.py --write` puts it there.
"""

import re
import sys

import layers
import sources

FOLDER = re.compile(r"^tailrace_folder\(([\w/]+)(.*?)\)[ \t]*$", re.MULTILINE | re.DOTALL)
PAGE = "docs/ARCHITECTURE.md"
BEGIN, END = "<!-- layers: begin -->\n", "<!-- layers: end -->"

# CMake makes these without tailrace_folder: the shared library, and programs.
OTHER_TARGETS = {"api", "programs"}

# The purpose of each layer, the lowest first, as on the page.
MEANING = [
    "words without a meaning of their own; bytes made smaller", "threads and the system", "memory",
    "what is spoken of; the port to the network", "as bytes; keys and links", "networks",
    "the syntax of the configuration", "the configuration; the port to files", "files of the system", "back ends",
    "storages over another one",
    "requests; filters", "the metadata of files", "where blocks lie", "what a client and its server share",
    "files as they are; where the server runs; actions",
    "the two halves of a session; files read", "parts of the server", "the verbs of a client", "the server",
    "parts of the composition roots", "files, figures", "place core's composition root", "the composition root",
    "the C interface; output for people", "what a command reads", "commands",
    "programs"]


def targets_of(texts):
    """Returns folder → folders that it USES, from the texts of CMakeLists.txt files."""
    named = {}
    for text in texts:
        for name, rest in FOLDER.findall(re.sub(r"#[^\n]*", "", text)):
            words = re.search(r"\bUSES\b((?:\s+[\w:]+)*)", rest)
            named[name] = words.group(1).split() if words else []
    by_target = {"tailrace_" + name.replace("/", "_"): name for name in named}
    stops = {"PRIVATE", "SOURCES"}
    uses = {}
    for name, words in named.items():
        own = words[:next((i for i, word in enumerate(words) if word in stops), len(words))]
        uses[name] = [by_target[word] for word in own if word in by_target]
    return uses


def closure(folder, uses):
    """Returns all folders that a folder uses, directly and through others."""
    found, left = set(), [folder]
    while left:
        for one in uses.get(left.pop(), []):
            if one not in found:
                found.add(one)
                left.append(one)
    return found


def check_targets(uses):
    complaints = [f"src/{folder}: no tailrace_folder({folder} …)" for folder in layers.LAYER
                  if folder not in uses and folder not in OTHER_TARGETS]
    for folder, used in uses.items():
        if folder not in layers.LAYER:
            complaints.append(f"tailrace_folder({folder} …): tests/tidy/layers.py has no such folder")
            continue
        complaints += [f"tailrace_folder({folder} …): {broken}" for one in used
                       if (broken := layers.check_between_folders(folder, one))]
    return complaints


def check_file(path, text, uses, seen):
    """Checks that a file in src includes only what its target uses. `seen` is closure() of each folder."""
    folder = layers.folder_of(path)[len("src/"):]
    complaints = []
    for match in layers.INCLUDE.finditer(text):
        other = layers.folder_of(match.group(2))
        if match.group(1) == '"' and other in uses and other != folder and other not in seen[folder]:
            line = text.count("\n", 0, match.start()) + 1
            complaints.append(f"{path}:{line}: src/{folder} does not USE src/{other} (in its CMakeLists.txt)")
    return complaints


def markdown():
    lines = ["| layer | folders of `src` | |", "|---:|---|---|"]
    for number in reversed(range(len(layers.LAYERS))):
        folders = ", ".join(f"`{folder}`" for folder in sorted(layers.LAYERS[number]))
        lines.append(f"| {number} | {folders} | {MEANING[number]} |")
    return "\n".join(lines) + "\n"


def check_page(text):
    before, begin, rest = text.partition(BEGIN)
    table, end, _ = rest.partition(END)
    if not begin or not end:
        return [f"{PAGE}: no marks for the table of layers, expected {BEGIN.strip()} and {END}"]
    line = before.count("\n") + 2
    wrong = f"{PAGE}:{line}: not the table of tests/tidy/layers.py; targets.py --write mends it"
    return [] if table == markdown() else [wrong]


def main():
    page = sources.ROOT / PAGE
    if sys.argv[1:] == ["--write"]:
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        page.write_text(before + BEGIN + markdown() + END + rest.partition(END)[2], encoding="utf-8")
        return 0
    read = {path: (sources.ROOT / path).read_text(encoding="utf-8") for path in sources.repository_files()
            if path.startswith("src/") and path.endswith(("CMakeLists.txt", *sources.CPP))}
    uses = targets_of(text for path, text in read.items() if path.endswith("CMakeLists.txt"))
    seen = {folder: closure(folder, uses) for folder in uses}
    complaints = check_targets(uses)
    for path, text in read.items():
        if not path.endswith("CMakeLists.txt") and layers.folder_of(path)[len("src/"):] in uses:
            complaints += check_file(path, text, uses, seen)
    return sources.report(complaints + check_page(page.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main())
