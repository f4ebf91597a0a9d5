#!/usr/bin/env bash
# Builds a parallel HDF5 2.2.0 once, from the C sources in the crate `hdf5-metno-src`, into DESTINATION: the shared
# library to which the programs of tests/hdf5 are linked, like users' programs. No part of tailrace is.
#
#   tools/build_hdf5_parallel.sh DESTINATION
#   tools/build_hdf5_parallel.sh --is-built DESTINATION     only reports that, by its exit code
#
# Takes a minute and a half on two cores; does nothing if DESTINATION is complete for the selected MPI (TAILRACE_MPI,
# python/tailrace/mpis.py). Needs cargo, ninja, that MPI, and CMake 3.26, which pip fetches if only an older one
# is installed. At -O1: the tests check which process writes what, and -O3 takes twice as long.
set -euo pipefail

source "$(dirname "$0")/build_once.sh"

crate_version=0.10.4 # of hdf5-metno-src; contains HDF5 2.2.0
mpis=$(dirname "$0")/../python/tailrace/mpis.py
mpi=$(python3 -B "$mpis" --get name)
begin_building "parallel HDF5 2.2.0 with $mpi" "complete-$crate_version-$mpi" "$@"
rm -f "$destination"/complete-* # of another MPI, whose files this build replaces

recent_cmake
fetch_crates hdf5-metno-src "$crate_version"

"$cmake" -S "$work/vendor/hdf5-metno-src/ext/hdf5" -B "$work/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
  -DCMAKE_INSTALL_PREFIX="$destination" -DCMAKE_INSTALL_LIBDIR=lib \
  -DHDF5_ENABLE_PARALLEL=ON -DMPI_C_COMPILER="$(python3 -B "$mpis" --get cc)" \
  -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=OFF -DHDF5_ONLY_SHARED_LIBS=ON \
  -DBUILD_TESTING=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF \
  -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_HL_LIB=OFF -DHDF5_NO_PACKAGES=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF \
  -DHDF5_ENABLE_ZLIB_SUPPORT=ON -Wno-dev >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; exit 1; }
"$cmake" --build "$work/build" --target install >>"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
touch "$stamp"
