"""Links from a page to a file of the repository outside docs/: on the site, they lead to `repository_address`, and
show the file's path.

A link to a file that does not exist stays, and is a warning.
"""

import pathlib
import re

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")


def replace(app, docname, source):
    page = pathlib.Path(app.env.doc2path(docname)).resolve()
    docs = pathlib.Path(app.srcdir).resolve()

    def shown(match):
        target = (page.parent / match[2]).resolve()
        if target.is_relative_to(docs) or not target.exists():
            return match[0]
        path = target.relative_to(docs.parent).as_posix()
        kind = "tree" if target.is_dir() else "blob"
        text = f"`{path}`" if path in match[1] or match[1].strip("`") in path else f"{match[1]} (`{path}`)"
        return f"[{text}]({app.config.repository_address}/{kind}/main/{path})"

    source[0] = LINK.sub(shown, source[0])


def setup(app):
    app.add_config_value("repository_address", "", "env")
    app.connect("source-read", replace)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
