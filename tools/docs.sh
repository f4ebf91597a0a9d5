#!/usr/bin/env bash
# Builds the documentation site into build/docs/html, with warnings as errors: a broken link, a page that is in no
# table of contents, a reference to a name that does not exist and a cell of the notebook that fails are warnings.
# Needs what tools/build.sh installs into .venv, because the references of Python and of the command line are made
# from the package itself, and the notebook uses it.
#
#   tools/docs.sh                builds it
#   tools/docs.sh ROOT [NAME]    also puts it into ROOT, beside other versions, as NAME (default: the release)
#
# TAILRACE_REPOSITORY is the address of the repository, to which edit links lead, and TAILRACE_DOCS that of the site.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

# For the commands that the notebook runs.
PATH=$venv/bin:$PATH
rm -rf build/docs
mkdir -p build/docs/doxygen
step "reading the headers (Doxygen)" doxygen docs/_ext/Doxyfile
# Breathe would look for pages of the files that these name.
sed -i -e '/<includes refid=/d' \
  -e 's/<ref refid="[a-z_]*_8hp*" [^>]*>\([^<]*\)<\/ref>/\1/g' build/docs/doxygen/xml/*.xml
step "building the site (Sphinx)" "$venv/bin/python" -m sphinx -W --keep-going -n -j 2 -d build/docs/doctrees \
  docs build/docs/html
step "checking its links and references" "$venv/bin/python" docs/_ext/check_site.py build/docs/html .
say "the site: build/docs/html/index.html"
if [ $# -gt 0 ]; then
  "$venv/bin/python" docs/_ext/add_version.py build/docs/html "$@"
fi
