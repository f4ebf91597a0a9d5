"""Sphinx's configuration of the documentation site; tools/docs.sh builds it.

Pages are Markdown (MyST). References come from the code: Doxygen and Breathe read the C and C++ headers, autodoc the
Python package, sphinx-argparse the command line, and _ext/fortran_module.py the Fortran module.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent
sys.path.insert(0, str(HERE / "_ext"))

project = "tailrace"
author = "the authors of tailrace"
release = re.search(r'TAILRACE_VERSION_STRING "(.*)"', (REPOSITORY / "include/tailrace/tailrace.h").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "breathe", "sphinxarg.ext", "fortran_module", "repository_links"]
exclude_patterns = ["_ext/**"]
html_theme = "furo"
html_title = f"tailrace {release}"
html_copy_source = False

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
