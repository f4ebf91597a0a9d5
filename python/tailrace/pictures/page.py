"""The report: pictures, tables and sentences on runs in one self-contained HTML page.

`frame` has the page around them, and the kind of each file says what belongs into its section.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import frame, gallery, style
from .frame import text
from .gallery import Picture
from .source import Source

_LARGEST_SVG = 1 << 20  # Beyond it a picture is embedded as PNG, so that pages stay easy to open.

_QUICK = "A quick run: it shows that everything works. Its figures are no measurement."


def build(sources: Sequence[Source], version: str) -> str:
    """Returns the whole page."""
    sections: list[str] = []
    heads: list[tuple[str, list[str]]] = []
    for group in gallery.together(sources):
        pictures = gallery.draw(group)
        title = ", ".join(one.path.name for one in group)
        said = group[0].kind.sentences(group[0].data, [picture.alt for picture in pictures])
        heads.append((title, [*([_QUICK] if group[0].quick else []), *said]))
        sections.append(_section(title, group[0], pictures, first=not sections))
    single = len(heads) == 1
    short = "".join(("" if single else f"<h3>{text(title)}</h3>")
                    + "<ul>" + "".join(f"<li>{text(one)}</li>" for one in said) + "</ul>" for title, said in heads)
    names = text(", ".join(title for title, _ in heads))
    body = (f'<section class="short"><h3>In short</h3>{short}</section>\n' + "\n".join(sections)
            + _glossary(sources))
    return frame.document("Report of measured runs", f"Made by tailrace {text(version)} from {names}", body)


def _glossary(sources: Sequence[Source]) -> str:
    words = dict(word for source in sources for word in source.kind.glossary)
    listed = "".join(f"<dt>{text(word)}</dt><dd>{text(meaning)}</dd>" for word, meaning in words.items())
    return f'\n<section><h3>Words</h3><dl class="words">{listed}</dl></section>\n' if listed else "\n"


def _section(title: str, source: Source, pictures: list[Picture], first: bool) -> str:
    head = ('<h2 class="first">' if first else "<h2>") + f"{text(title)}</h2>"
    drawn = [_figure(picture, source.kind.captions[picture.kind]) for picture in pictures]
    return "\n".join(["<section>", head, *source.kind.before(source.data), *drawn, *source.kind.after(source.data),
                      "</section>"])


def _figure(picture: Picture, caption: str) -> str:
    kind, content = "svg+xml", style.encode(picture.figure, "svg")
    if len(content) > _LARGEST_SVG:
        kind, content = "png", style.encode(picture.figure, "png")
    return frame.figure(kind, content, picture.alt, caption)
