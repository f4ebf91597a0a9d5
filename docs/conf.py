"""Sphinx's configuration of the documentation site; tools/docs.sh builds it.

Pages are Markdown (MyST). References come from the code: Doxygen and Breathe read the C and C++ headers, autodoc the
Python package, sphinx-argparse the command line, and _ext/fortran_module.py the Fortran module.
"""

import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent
sys.path.insert(0, str(HERE / "_ext"))

project = "tailrace"
author = "the authors of tailrace"
HEADER = (REPOSITORY / "include/tailrace/tailrace.h").read_text()
version = release = re.search(r'TAILRACE_VERSION_STRING "(.*)"', HEADER)[1]

extensions = ["myst_nb", "sphinx.ext.autodoc", "breathe", "sphinxarg.ext", "sphinx_copybutton", "sphinx_design",
              "fortran_module", "repository_links"]
exclude_patterns = ["_ext/**"]
templates_path = ["_templates"]

# Where the repository can be read and edited in a browser: edit links, and links to files outside docs/, lead there.
repository_address = os.environ.get("TAILRACE_REPOSITORY", "https://example.org/tailrace").rstrip("/")
# Where the site is hosted, for search engines; nothing else needs it.
html_baseurl = os.environ.get("TAILRACE_DOCS", "")

html_theme = "furo"
html_title = "tailrace"
html_copy_source = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_theme_options = {"source_edit_link": repository_address + "/edit/main/docs/{filename}",
                      "source_view_link": repository_address + "/blob/main/docs/{filename}"}
html_sidebars = {"**": ["sidebar/brand.html", "sidebar/versions.html", "sidebar/search.html",
                        "sidebar/scroll-start.html", "sidebar/navigation.html", "sidebar/scroll-end.html"]}

# Copies the commands of a session without their prompts and output.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"

# Pages that begin with `file_format: mystnb` are notebooks, which the build runs.
nb_execution_mode = "force"
nb_execution_timeout = 600  # seconds for a cell; it only ends hangs
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_merge_streams = True

myst_heading_anchors = 5
myst_enable_extensions = ["colon_fence"]

# In comments and docstrings, `name` is code.
default_role = "literal"
autodoc_member_order = "bysource"

breathe_projects = {"tailrace": str(REPOSITORY / "build/docs/doxygen/xml")}
breathe_default_project = "tailrace"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}

# Types of the C and C++ libraries and of C's interface named in C++, which have no pages here.
nitpick_ignore_regex = [("(c|cpp):.*", ".*"),
                        ("py:.*", r"(numpy|types|collections|logging|os|pathlib|tailrace\._|_?Path).*"),
                        ("py:.*", "(_stats|enum|typing|Any|Union|NDArray|Size).*")]
suppress_warnings = ["misc.highlighting_failure"]  # console blocks with shortened output
