"""The report: pictures, tables and sentences on measured runs in one self-contained HTML page.

`frame` has the page around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tailrace import quantity

from . import frame, gallery, jitter, requests, style, tables, words
from .frame import text
from .gallery import Picture
from .source import Source

_LARGEST_SVG = 1 << 20  # Beyond it a picture is embedded as PNG, so that pages stay easy to open.

# How to read each picture.
_CAPTIONS = {
    "curve": "Left of C/W = 1 the storage bounds the pipeline, right of it the computation. Points are measured, "
             "lines "
             "are computed; the nearer to the broad grey line, the less is left to gain.",
    "ablation": "Each rung changes one thing; dark bars are tailrace's default, and the dashed line is the limit.",
    "peers": "The one nearest to the limit is at the top; dark bars are tailrace's. Scales are the same along a row.",
    "timeline": "The program is at the top; below it, for each variable, its blocks on their way and its potential "
                "shield times. A hatched box after a PST is the time for which the program needed memory that was "
                "not written yet.",
    "tiles": "A tile is a run, and a line in it a process, as long as its write time; white is time spent waiting "
             "for the slowest. The darker a tile, the lower its throughput.",
    "busy": "A bar is the share of the time until the next iteration in which the writer was busy: dark while "
            "bytes were on their way to storage, hatched while only filters worked. The space above the bars is "
            "spare time.",
    "requests": "A row is a way to write the same pieces, from the least to the most of its runs; dark bars are "
                "tailrace's. Left of the dashed line is faster than with the compactor off.",
    "schedulers": "A row is a way to order requests; its bar is the time of all processes, with the interval of "
                  "confidence. Left of the dashed line is faster than without forwarding.",
    "sizes": "Hatched: how many requests there were of each size; dark: how many accesses of storage they became. "
             "The further the dark bars are to the right of the hatched ones, the more was merged.",
}

_QUICK = "A quick run: it shows that everything works. Its figures are no measurement."

_WORDS = (("C, W, n", "compute time and write time of an iteration; the number of iterations"),
          ("limit", f"{words.LIMIT}: no schedule of n iterations on N_io devices takes less time"),
          ("OO, output overlap", "(OT − AT)/OT: the share of the synchronous output time that is no longer waited "
                                 "for"),
          ("slow-down", "of the computation, against the same one without output"),
          ("PST, potential shield time", "from handing a block over until its memory is needed again"),
          ("off", "(measured − predicted) / predicted"))


def build(sources: Sequence[Source], version: str) -> str:
    """Returns the whole page."""
    sections: list[str] = []
    heads: list[tuple[str, list[str]]] = []
    for group in gallery.together(sources):
        pictures = gallery.draw(group)
        title = ", ".join(one.path.name for one in group)
        heads.append((title, [*([_QUICK] if group[0].quick else []), *_sentences(group[0], pictures)]))
        sections.append(_section(title, group[0], pictures, first=not sections))
    single = len(heads) == 1
    short = "".join(("" if single else f"<h3>{text(title)}</h3>")
                    + "<ul>" + "".join(f"<li>{text(one)}</li>" for one in said) + "</ul>" for title, said in heads)
    names = text(", ".join(title for title, _ in heads))
    glossary = "".join(f"<dt>{text(word)}</dt><dd>{text(meaning)}</dd>" for word, meaning in _WORDS)
    body = (f'<section class="short"><h3>In short</h3>{short}</section>\n' + "\n".join(sections)
            + f'\n<section><h3>Words</h3><dl class="words">{glossary}</dl></section>\n')
    return frame.document("Report of measured runs", f"Made by tailrace {text(version)} from {names}", body)


def _sentences(source: Source, pictures: list[Picture]) -> list[str]:
    if source.kind == "result":
        return words.summary(source.data)
    if source.kind == "requests":
        return requests.sentences(source.data)
    found = jitter.sentences(source.study) if source.study else []
    return found + [picture.alt for picture in pictures]


def _section(title: str, source: Source, pictures: list[Picture], first: bool) -> str:
    parts = ["<section>", ('<h2 class="first">' if first else "<h2>") + f"{text(title)}</h2>"]
    if source.kind == "result":
        parts.append(_facts(source.data))
    if source.study:
        parts += [jitter.facts(source.study), jitter.table(source.study)]
    parts += [_figure(picture) for picture in pictures]
    if source.kind == "result":
        copying = words.copying(source.data)
        parts += [f"<h3>The copy</h3>{''.join(f'<p>{text(one)}</p>' for one in copying)}"] if copying else []
        parts += ["<h3>Figures</h3>", *tables.of_result(source.data)]
        method = (source.data.get("statistics") or {}).get("method")
        parts += [f'<p class="about">Interval: {text(method)}.</p>'] if method else []
    elif source.kind == "times":
        parts.append(tables.of_times(source.data))
    elif source.kind == "statistics":
        parts += [tables.of_iterations(source.data)] if source.data.passed else []
        parts += [tables.of_files(source.data.files)] if source.data.files else []
    return "\n".join([*parts, "</section>"])


def _figure(picture: Picture) -> str:
    kind, content = "svg+xml", style.encode(picture.figure, "svg")
    if len(content) > _LARGEST_SVG:
        kind, content = "png", style.encode(picture.figure, "png")
    return frame.figure(kind, content, picture.alt, _CAPTIONS[picture.kind])


def _facts(result: dict[str, Any]) -> str:
    machine, settings = result.get("machine") or {}, result["settings"]
    memory = machine.get("memory_bytes")
    parts = [machine.get("cpu"), f"{machine['cpus']} CPUs" if machine.get("cpus") else None,
             quantity.format_size(memory) if memory else None, machine.get("os"), machine.get("kernel")]
    storage = "; ".join(f"{one['directory']}: {one['filesystem']}, page cache {one['page_cache']}"
                        for one in result.get("storage") or [])
    work = [f"{settings['iterations']} iterations of {quantity.format_size(settings['bytes'])}",
            f"{settings['variables']} variables" if (settings.get("variables") or 1) > 1 else None,
            f"computing: {settings['compute']}" if settings.get("compute") else None,
            f"{settings['threads']} threads" if (settings.get("threads") or 1) > 1 else None,
            settings.get("memory"), f"queue depth {settings['queue_depth']}" if settings.get("queue_depth") else None,
            f"{settings['devices']} devices" if (settings.get("devices") or 1) > 1 else None]
    warmup = f", {settings['warmup']} to warm up" if settings.get("warmup") else ""
    return frame.facts([("command", result.get("command")), ("made", result.get("created")),
                         ("tailrace", result.get("tailrace")), ("machine", _listed(parts)), ("storage", storage),
                         ("work", _listed(work)), ("runs", f"{settings['repeats']} in turns{warmup}")])


def _listed(parts: Sequence[object]) -> str:
    return ", ".join(str(part) for part in parts if part)
