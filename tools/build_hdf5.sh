#!/usr/bin/env bash
# Builds HDF5 1.14.6 once, from the C sources in the crate `hdf5-metno-src`, into DESTINATION: static,
# position-independent, hidden from the application by the way libtailrace links it (docs/decisions/002).
#
#   tools/build_hdf5.sh DESTINATION
#   tools/build_hdf5.sh --is-built DESTINATION     only reports that, by its exit code
#
# Takes half a minute on two cores; does nothing if DESTINATION is complete. Needs cargo, cmake and ninja. Builds only
# the C library, with as few parts as HDF5 allows, and without its many warnings. At -O1: HDF5 only makes the metadata
# of a file in memory here, in a fraction of a millisecond, and compiling with -O3 takes twice as long.
set -euo pipefail

source "$(dirname "$0")/build_once.sh"

crate_version=0.9.5 # of hdf5-metno-src; contains HDF5 1.14.6
begin_building "HDF5 1.14.6" "complete-$crate_version-3" "$@"
fetch_crate "$crate_version"

# This HDF5 reads no environment variables: those are for the program's HDF5 (HDF5_DRIVER, and HDF5_VOL_CONNECTOR,
# which would make this one load tailrace's connector).
cat >"$work/no_environment.h" <<HEADER
#include <stdlib.h>
#define getenv(name) ((char *)0)
HEADER

cmake -S "$work/vendor/hdf5-metno-src/ext/hdf5" -B "$work/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
  -DCMAKE_C_FLAGS="-include $work/no_environment.h" \
  -DCMAKE_INSTALL_PREFIX="$destination" -DCMAKE_INSTALL_LIBDIR=lib \
  -DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
  -DCMAKE_C_VISIBILITY_PRESET=hidden -DBUILD_TESTING=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF \
  -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_HL_LIB=OFF -DHDF5_NO_PACKAGES=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF \
  -DHDF5_ENABLE_Z_LIB_SUPPORT=OFF -DHDF5_ENABLE_NONSTANDARD_FEATURE_FLOAT16=OFF -DHDF5_WANT_DCONV_EXCEPTION=OFF \
  -DHDF5_DISABLE_COMPILER_WARNINGS=ON -DHDF5_ENABLE_ALL_WARNINGS=OFF -Wno-dev >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; exit 1; }
cmake --build "$work/build" --target install >>"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
touch "$stamp"
