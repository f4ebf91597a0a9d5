#!/usr/bin/env bash
# Makes a source archive into build/wheels. It has what is committed, and the sources of the third-party libraries and
# of HDF5, so that pip builds it where there are a compiler, make, pkg-config and Perl.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"
make_sdist() {
  rm -rf build/sdist && mkdir -p build/sdist build/wheels
  git archive HEAD | tar -x -C build/sdist
  cp -r .deps/portable-sources build/sdist/third_party
  (cd build/sdist && "$venv/bin/python" -c 'import sys, scikit_build_core.build as build
build.build_sdist(sys.argv[1])' "$root/build/wheels")
  rm -rf build/sdist
}
step "third-party sources" tools/portable/sources.sh .deps/portable-sources
step "source archive" make_sdist
ls -1 build/wheels/*.tar.gz
