"""The frame of a page with results: its style, and the pieces of HTML that it is made of.

A page has no scripts and no outside resources (it forbids itself to load any), and is readable on light and dark
screens and on paper. It knows no results, and needs no matplotlib.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence

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


def document(title: str, about: str, body: str) -> str:
    """Returns a whole page; `about` and `body` are HTML."""
    return ("<!doctype html>\n"
            '<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
            "style-src 'unsafe-inline'\">"
            f"<title>tailrace: {text(title[:1].lower() + title[1:])}</title><style>{_STYLE}</style></head>\n"
            "<body><main>\n"
            f"<h1>{text(title)}</h1>\n"
            f'<p class="about">{about}</p>\n{body}</main></body></html>\n')


def figure(kind: str, content: bytes, alt: str, caption: str) -> str:
    """Returns a picture inside the page; `kind` is png or svg+xml."""
    data = base64.b64encode(content).decode("ascii")
    return (f'<figure><img alt="{text(alt)}" src="data:image/{kind};base64,{data}">'
            f"<figcaption>{text(caption)}</figcaption></figure>")


def text(value: object) -> str:
    """Escapes text for HTML."""
    return html.escape(str(value))


def table(columns: Sequence[str], rows: Iterable[str], caption: str) -> str:
    """Returns a table; `row` or `group` make its `rows`. Numbers are right-aligned, the first column left-aligned."""
    # A unit stays beside its name.
    heads = "".join(f'<th scope="col">{text(column).replace(", ", ",&nbsp;")}</th>' for column in columns)
    return (f'<div class="wide"><table><caption>{text(caption)}</caption><thead><tr>{heads}</tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>")


def row(name: object, cells: Iterable[object]) -> str:
    """One line of figures."""
    return f'<tr><th scope="row">{text(name)}</th>' + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>"


def group(name: str, columns: int) -> str:
    """A heading inside a table."""
    return f'<tr class="group"><th scope="rowgroup" colspan="{columns}">{text(name)}</th></tr>'


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Returns a list of what ran where."""
    items = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in pairs if value)
    return f'<dl class="facts">{items}</dl>'
