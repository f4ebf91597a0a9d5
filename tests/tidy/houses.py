#!/usr/bin/env python3
"""The map of the repository: its houses, and which may use which. docs/map.md shows it, as a table and as a picture;
`houses.py --write` puts both there. Run as a script, it checks the page; `houses.py TARGETS` also checks CMake's
targets, from the list that CMake writes (cmake/targets.cmake): what a target links to is of its own house, or of one
that its house may use.

layers.py has the law of includes, python_layers.py that of imports, and targets.py the folders of src.
"""

import dataclasses
import posixpath
import sys

import layers
import sources

PAGE = "docs/map.md"
PICTURE = "docs/images/map.svg"
BEGIN, END = "<!-- map: begin -->\n", "<!-- map: end -->"


@dataclasses.dataclass(frozen=True)
class House:
    """A part of the repository: what it holds, what it may use, and where the picture has it."""

    name: str
    folders: tuple[str, ...]
    holds: str
    uses: tuple[str, ...]
    part: str  # "product", "lab", "apps" or "tests"
    column: float
    row: float
    width: float = 1.0


HOUSES = (
    House("src", ("src",), "the library: [src/README.md](../src/README.md) takes you through it", ("include",),
          "product", 0, 4),
    House("include", ("include",), "the public headers of C and C++", (), "product", 1, 4),
    House("bindings", ("bindings",), "doors: Fortran, Python's extension, and those for unchanged programs of HDF5, "
          "MPI-IO, OpenFOAM and Damaris", ("include",), "product", 1, 3),
    House("python/tailrace", ("python/tailrace",), "the Python package, with the command line `tailrace`",
          ("bindings",), "product", 1, 2),
    House("apps", ("apps",), "real applications: a tsunami, a filter of textures, profiles of Score-P",
          ("include", "python/tailrace"), "apps", 2, 1),
    House("examples", ("examples",), "short programs that the pages show", ("include", "bindings", "python/tailrace"),
          "apps", 2, 2),
    House("lab", ("lab",), "what studies, measures and compares: [lab/README.md](../lab/README.md)",
          ("include", "bindings", "python/tailrace"), "lab", 1, 1),
    House("lab/inside", ("lab/inside",), "studies of the library's inside", ("src", "testing"), "lab", 0, 1),
    House("testing", ("testing",), "the simulator, and what tests are made of", ("src",), "tests", 0, 2),
    House("tests", ("tests",), "all tests: [tests/README.md](../tests/README.md)",
          ("src", "include", "bindings", "python/tailrace", "apps", "examples", "lab", "lab/inside", "testing"),
          "tests", 0, 0, 3.0),
)
BY_NAME = {house.name: house for house in HOUSES}

# Targets of src that all may link to: the library, and flags of the compiler.
PUBLIC = {"tailrace", "tailrace_flags", "tailrace_warnings"}
OPEN_TO_DOORS = {"tailrace_" + folder.replace("/", "_") for folder in layers.OPEN_TO_DOORS}
# Folders that are in no house: scripts, pages, and how others package tailrace.
OUTSIDE = (".ci", ".github", "cmake", "docs", "man", "packaging", "python", "tools", ".")


def house_of(folder):
    """Returns the house of a folder: the one with the longest path; None if there is none."""
    found = [house for house in HOUSES if any(layers.is_within(folder, one) for one in house.folders)]
    return max(found, key=lambda house: max(map(len, house.folders)), default=None)


def allowed(house, target, folder):
    """Returns True if targets of a house may link to `target`, which is in `folder`."""
    other = house_of(folder)
    if other in (None, house) or other.name in house.uses:
        return True
    if other.name != "src" or "include" not in house.uses:
        return False
    return target in PUBLIC or (house.name == "bindings" and target in OPEN_TO_DOORS)


def check_targets(text):
    """Checks the list of targets that CMake writes."""
    lines = [line.split(" ") for line in text.splitlines()]
    folder_of = {target: folder for folder, target, *_ in lines}
    complaints = []
    for folder, target, *links in lines:
        house = house_of(folder)
        if house is None:
            if folder not in OUTSIDE:
                complaints.append(f"{folder}: in no house of tests/tidy/houses.py")
            continue
        for link in links:
            link = link.replace("tailrace::", "tailrace_").replace("tailrace_tailrace", "tailrace")
            if link in folder_of and not allowed(house, link, folder_of[link]):
                complaints.append(f"{folder}: {target} links to {link} of {folder_of[link]}, which {house.name} must "
                                  "not use")
    return complaints


def check_houses(paths):
    """Checks that each file is in a house, or outside on purpose, and that each house is there."""
    complaints, seen = [], set()
    for path in paths:
        folder = posixpath.dirname(path) or "."
        house = house_of(folder)
        if house is not None:
            seen.add(house.name)
        elif folder.split("/")[0] not in OUTSIDE:
            complaints.append(f"{path}: in no house of tests/tidy/houses.py")
    return complaints + [f"{house.name}: a house without files" for house in HOUSES if house.name not in seen]


def markdown():
    lines = ["| where | what | may use |", "|---|---|---|"]
    for house in HOUSES:
        uses = "everything" if len(house.uses) == len(HOUSES) - 1 else ", ".join(f"`{one}`" for one in house.uses)
        lines.append(f"| `{house.name}` | {house.holds} | {uses or 'nothing'} |")
    return "\n".join(lines) + "\n"


COLOURS = {"product": ("#dbe9f6", "#2f6690"), "lab": ("#e2f0d9", "#4f7d34"), "apps": ("#fdf0d0", "#a0741b"),
           "tests": ("#ececec", "#6b6b6b")}
STEP, WIDTH, HEIGHT, LEFT, TOP = (220, 86), 170, 44, 20, 20


def box(house):
    """Returns left, top, width and height of a house in the picture."""
    return (LEFT + house.column * STEP[0], TOP + house.row * STEP[1], WIDTH + (house.width - 1) * STEP[0], HEIGHT)


def border(house, towards):
    """Returns where the line between the middles of two houses crosses the border of the first."""
    x, y, width, height = box(house)
    other = box(towards)
    middle = (x + width / 2, y + height / 2)
    away = (other[0] + other[2] / 2 - middle[0], other[1] + other[3] / 2 - middle[1])
    share = min(size / 2 / abs(one) for size, one in zip((width, height), away) if one)
    return middle[0] + away[0] * share, middle[1] + away[1] * share


def reached(names):
    """Returns the names of the houses that these may use, directly and through others."""
    return {other for name in names for other in (*BY_NAME[name].uses, *reached(BY_NAME[name].uses))}


def arrows(house):
    """Returns the houses to which an arrow leads: those that it may use, but for those behind others of them."""
    behind = reached(house.uses)
    return [BY_NAME[name] for name in house.uses if name not in behind and house.name != "tests"]


def svg():
    """Draws the houses, and an arrow from each to those that it may use."""
    width = LEFT * 2 + 2 * STEP[0] + WIDTH
    height = TOP * 2 + 4 * STEP[1] + HEIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'font-family="sans-serif" font-size="15">',
             '<title>The houses of the repository, and which may use which</title>',
             '<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
             '<path d="M0 0 9 4 0 8z" fill="#444"/></marker></defs>',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for house in HOUSES:
        for used in arrows(house):
            start, end = border(house, used), border(used, house)
            parts.append(f'<line x1="{start[0]:.0f}" y1="{start[1]:.0f}" x2="{end[0]:.0f}" y2="{end[1]:.0f}" '
                         'stroke="#444" stroke-width="1.3" marker-end="url(#tip)"/>')
    for house in HOUSES:
        x, y, wide, high = box(house)
        fill, line = COLOURS[house.part]
        said = house.name if house.name != "tests" else "tests: may use everything"
        parts.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{high}" rx="6" fill="{fill}" '
                     f'stroke="{line}" stroke-width="1.5"/>')
        parts.append(f'<text x="{x + wide / 2:.0f}" y="{y + high / 2 + 5:.0f}" text-anchor="middle">{said}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def check_page(text, picture):
    before, begin, rest = text.partition(BEGIN)
    table, end, _ = rest.partition(END)
    if not begin or not end:
        return [f"{PAGE}: no marks for the table, expected {BEGIN.strip()} and {END}"]
    line = before.count("\n") + 2
    made = ((f"{PAGE}:{line}", "table", table == markdown()), (PICTURE, "picture", picture == svg()))
    return [f"{place}: not the {what} of tests/tidy/houses.py; houses.py --write mends it"
            for place, what, right in made if not right]


def main():
    page, picture = sources.ROOT / PAGE, sources.ROOT / PICTURE
    if sys.argv[1:] == ["--write"]:
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        page.write_text(before + BEGIN + markdown() + END + rest.partition(END)[2], encoding="utf-8")
        picture.write_text(svg(), encoding="utf-8")
        return 0
    complaints = check_page(page.read_text(encoding="utf-8"), picture.read_text(encoding="utf-8"))
    complaints += check_houses(sources.repository_files())
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            complaints += check_targets(file.read())
    return sources.report(complaints)


if __name__ == "__main__":
    sys.exit(main())
