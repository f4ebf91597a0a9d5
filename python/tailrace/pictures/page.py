"""The report: pictures, tables and sentences on measured runs in one self-contained HTML page.

It has no scripts and no outside resources (the page forbids itself to load any), and is readable on light and dark
screens and on paper.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from tailrace import quantity

from . import gallery, jitter, requests, style, tables, words
from .gallery import Picture
from .source import Source
from .tables import text

_LARGEST_SVG = 1 << 20  # Beyond it a picture is embedded as PNG, so that pages stay easy to open.

_STYLE = """
:root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--soft:#5a5a5a;--rule:#c9c9c9;--shade:#f3f3f1}
@media (prefers-color-scheme:dark){:root{--ink:#e8e8e6;--paper:#161718;--soft:#a9a9a6;--rule:#4a4b4d;--shade:#222426}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,"Liberation Sans","DejaVu Sans",sans-serif}
main{max-width:66rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.75rem;margin:0 0 .25rem}h2{font-size:1.3rem;margin:2.5rem 0 .75rem;border-top:2px solid var(--ink);
padding-top:.75rem}h3{font-size:1.05rem;margin:1.75rem 0 .5rem}
p,li{max-width:46rem}.about{color:var(--soft);margin-top:0}
.short{background:var(--shade);border-left:4px solid var(--ink);padding:.25rem 1rem}
.short h3{margin-top:.75rem}.short li{margin:.35rem 0}
figure{margin:1.25rem 0;break-inside:avoid}figure img{display:block;max-width:100%;height:auto;background:#fff;
padding:.5rem;border:1px solid var(--rule)}
figcaption{color:var(--soft);font-size:.85rem;max-width:46rem;margin-top:.35rem}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;font-size:.9rem;margin:0}
.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto;margin:1.25rem 0}
table{border-collapse:collapse;font-size:.82rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);padding:0 0 .4rem;font-size:.85rem;caption-side:top}
th,td{padding:.22rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule);
vertical-align:bottom}
thead th{border-bottom:2px solid var(--ink);white-space:normal}
th:first-child{text-align:left;padding-left:0}tbody th{font-weight:normal}
.group th{font-weight:600;padding-top:.8rem}.why{text-align:left;white-space:normal;font-style:italic}
.words dt{font-weight:600}.words dd{margin:0 0 .4rem 1.25rem;max-width:46rem}
@media print{:root{--ink:#000;--paper:#fff;--soft:#333;--rule:#999;--shade:#fff}
body{font-size:10pt}main{max-width:none;padding:0}h2{break-before:page}h2.first{break-before:auto}
.wide{overflow:visible}table{font-size:6.8pt}th,td{padding:.12rem .3rem}tr,dl{break-inside:avoid}}
"""

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
        heads.append((title, _sentences(group[0], pictures)))
        sections.append(_section(title, group[0], pictures, first=not sections))
    single = len(heads) == 1
    short = "".join(("" if single else f"<h3>{text(title)}</h3>")
                    + "<ul>" + "".join(f"<li>{text(one)}</li>" for one in said) + "</ul>" for title, said in heads)
    names = text(", ".join(title for title, _ in heads))
    glossary = "".join(f"<dt>{text(word)}</dt><dd>{text(meaning)}</dd>" for word, meaning in _WORDS)
    return ("<!doctype html>\n"
            '<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
            "style-src 'unsafe-inline'\">"
            f"<title>tailrace: report of measured runs</title><style>{_STYLE}</style></head>\n<body><main>\n"
            "<h1>Report of measured runs</h1>\n"
            f'<p class="about">Made by tailrace {text(version)} from {names}</p>\n'
            f'<section class="short"><h3>In short</h3>{short}</section>\n'
            + "\n".join(sections)
            + f'\n<section><h3>Words</h3><dl class="words">{glossary}</dl></section>\n</main></body></html>\n')


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
    data = base64.b64encode(content).decode("ascii")
    return (f'<figure><img alt="{text(picture.alt)}" src="data:image/{kind};base64,{data}">'
            f"<figcaption>{text(_CAPTIONS[picture.kind])}</figcaption></figure>")


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
    return tables.facts([("command", result.get("command")), ("made", result.get("created")),
                         ("tailrace", result.get("tailrace")), ("machine", _listed(parts)), ("storage", storage),
                         ("work", _listed(work)), ("runs", f"{settings['repeats']} in turns{warmup}")])


def _listed(parts: Sequence[object]) -> str:
    return ", ".join(str(part) for part in parts if part)
