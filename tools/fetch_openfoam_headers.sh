#!/usr/bin/env bash
# Fetches the headers of OpenFOAM once into DESTINATION/include: Debian has no package of them. They are those of the
# source package of bookworm's `openfoam`, version 1912.
#
#   tools/fetch_openfoam_headers.sh [DESTINATION]                .deps/openfoam-headers by default
#   tools/fetch_openfoam_headers.sh --is-built [DESTINATION]     only reports that, by its exit code
#
# The folder has all headers in one place, as OpenFOAM's own builds do, with the sources of templates, which they
# include. Takes ten seconds; does nothing if DESTINATION is complete. Needs apt-get (it uses the mirror of the
# system's own packages).
set -euo pipefail

source "$(dirname "$0")/build_once.sh"
source "$(dirname "$0")/debian_source.sh"

look=()
[ "${1:-}" != --is-built ] || { look=(--is-built) && shift; }
begin_building "OpenFOAM's headers" complete-1912-1 "${look[@]}" "${1:-$(dirname "$0")/../.deps/openfoam-headers}"

fetch_debian_source bookworm openfoam 'openfoam_1912*.orig.tar.*'
mkdir -p "$destination/include"
find "$work/source/src/OpenFOAM" "$work/source/src/OSspecific/POSIX" \( -name '*.H' -o -name '*.C' \) \
  -exec cp -t "$destination/include" {} +
touch "$stamp"
