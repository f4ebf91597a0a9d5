#!/usr/bin/env bash
# Builds HDF5 once into DESTINATION: static, position-independent, hidden from the application by the way libtailrace
# links it (docs/decisions/002). The source is that of TAILRACE_HDF5_SOURCE, a directory or an archive of HDF5 1.14.4
# or later; without it, Cargo fetches HDF5 1.14.6, which is in the crate `hdf5-metno-src`.
#
#   tools/build_hdf5.sh DESTINATION
#   tools/build_hdf5.sh --is-built DESTINATION     only reports that, by its exit code
#
# Takes half a minute on two cores; does nothing if DESTINATION is complete. Needs cmake and ninja. Builds only the C
# library, with as few parts as HDF5 allows, and without its many warnings. At -O1: HDF5 only makes the metadata
# of a file in memory here, in a fraction of a millisecond, and compiling with -O3 takes twice as long.
set -euo pipefail

source "$(dirname "$0")/build_once.sh"

crate_version=0.9.5 # of hdf5-metno-src; contains HDF5 1.14.6
given=${TAILRACE_HDF5_SOURCE:-}
stamp_name=complete-$crate_version-3
if [ -n "$given" ]; then
  given=$(realpath -e -- "$given") || {
    echo "TAILRACE_HDF5_SOURCE: expected a directory or an archive" >&2
    exit 1
  }
  stamp_name=complete-given-$(printf '%s' "$given" | cksum | cut -d' ' -f1)-3
else
  # Once it is built from a given source, it stays so: CMake may run later without the variable.
  for last; do :; done
  for one in "${last:-.}"/complete-given-*-3; do [ ! -e "$one" ] || stamp_name=$(basename "$one"); done
fi
begin_building "HDF5" "$stamp_name" "$@"

# given_source: sets `source` to the directory of HDF5's source that TAILRACE_HDF5_SOURCE names.
given_source() {
  source=$given
  if [ ! -d "$given" ]; then
    mkdir "$work/given"
    tar -C "$work/given" -xf "$given" || { echo "TAILRACE_HDF5_SOURCE: found no archive in $given" >&2 && exit 1; }
    source=$(find "$work/given" -path '*/src/H5public.h' -printf '%d %h\n' | sort -n |
      sed -n '1s#^[0-9]* ##;1s#/src$##p')
  fi
  local header=$source/src/H5public.h version
  [ -e "$header" ] || {
    echo "TAILRACE_HDF5_SOURCE: found no src/H5public.h in $given, expected HDF5's source" >&2
    exit 1
  }
  version=$(sed -n 's/^#define H5_VERS_\(MAJOR\|MINOR\|RELEASE\) *\([0-9]*\).*/\2/p' "$header" | paste -sd.)
  case $version in
    1.14.[4-9] | 1.14.[1-9][0-9]) ;;
    *)
      echo "TAILRACE_HDF5_SOURCE: found HDF5 $version in $given, expected 1.14.4 or a later 1.14" >&2
      exit 1
      ;;
  esac
}

if [ -n "$given" ]; then
  given_source
else
  command -v cargo >/dev/null || {
    echo "found no cargo, which fetches HDF5's source, and no TAILRACE_HDF5_SOURCE: expected one of them" >&2
    echo "(TAILRACE_HDF5_SOURCE names a directory or a .tar.gz of HDF5 1.14.4 or later)" >&2
    exit 1
  }
  fetch_crates hdf5-metno-src "$crate_version"
  source=$work/vendor/hdf5-metno-src/ext/hdf5
fi

# This HDF5 reads no environment variables: those are for the program's HDF5 (HDF5_DRIVER, and HDF5_VOL_CONNECTOR,
# which would make this one load tailrace's connector).
cat >"$work/no_environment.h" <<HEADER
#include <stdlib.h>
#define getenv(name) ((char *)0)
HEADER

cmake -S "$source" -B "$work/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
  -DCMAKE_C_FLAGS="-include $work/no_environment.h" \
  -DCMAKE_INSTALL_PREFIX="$destination" -DCMAKE_INSTALL_LIBDIR=lib \
  -DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
  -DCMAKE_C_VISIBILITY_PRESET=hidden -DBUILD_TESTING=OFF -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF \
  -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_HL_LIB=OFF -DHDF5_NO_PACKAGES=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF \
  -DHDF5_ENABLE_Z_LIB_SUPPORT=OFF -DHDF5_ENABLE_NONSTANDARD_FEATURE_FLOAT16=OFF -DHDF5_WANT_DCONV_EXCEPTION=OFF \
  -DHDF5_DISABLE_COMPILER_WARNINGS=ON -DHDF5_ENABLE_ALL_WARNINGS=OFF -Wno-dev >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; exit 1; }
# Ninja's lines are for setup.sh, which shows how far it is.
cmake --build "$work/build" --target install 2>&1 | tee -a "$work/log" | { grep --line-buffered '^\[' || true; } ||
  { tail -n 40 "$work/log" >&2; exit 1; }
rm -f "$destination"/complete-*
touch "$stamp"
