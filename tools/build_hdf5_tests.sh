#!/usr/bin/env bash
# Builds HDF5 1.14.5 once into DESTINATION, in the form that programs use: shared, with the tools, Fortran, and its
# own tests, which run with the connector (bindings/hdf5_vol). The source is Debian trixie's: crates have no tests.
#
#   tools/build_hdf5_tests.sh [DESTINATION]                .deps/hdf5-tests by default
#   tools/build_hdf5_tests.sh --is-built [DESTINATION]     only reports that, by its exit code
#
# Takes about two minutes on two cores; does nothing if DESTINATION is complete. Needs apt-get (it uses the mirror of
# the system's own packages), cmake, ninja, gfortran and zlib. At -O1, as in build_hdf5.sh.
set -euo pipefail

source "$(dirname "$0")/build_once.sh"
source "$(dirname "$0")/debian_source.sh"

look=()
[ "${1:-}" != --is-built ] || { look=(--is-built) && shift; }
begin_building "HDF5 1.14.5 with its tests" complete-1.14.5-2 "${look[@]}" \
  "${1:-$(dirname "$0")/../.deps/hdf5-tests}"

# Keeps two of the eight kinds of file that `dsets` makes in turn, unless DSETS_ALL is set: each takes four seconds.
shorten_dsets() {
  sed -i -E 's/(paged|minimized_ohdr) <= true/\1 <= (getenv("DSETS_ALL") != NULL)/' "$work/source/test/dsets.c"
  [ "$(grep -c DSETS_ALL "$work/source/test/dsets.c")" = 2 ]
}

programs=(h5_api_test testhdf5 dsets dtypes h5copy h5diff h5dump h5ls h5repack h5stat)

fetch_debian_source trixie hdf5 'hdf5_1.14.5*.orig.tar.*'
quietly shorten_dsets
quietly cmake -S "$work/source" -B "$work/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DCMAKE_Fortran_FLAGS_RELEASE=-O1 \
  -DCMAKE_INSTALL_PREFIX="$destination" -DCMAKE_INSTALL_LIBDIR=lib \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH='$ORIGIN/../lib' \
  -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=OFF -DONLY_SHARED_LIBS=ON -DBUILD_TESTING=ON -DHDF5_TEST_API=ON \
  -DHDF5_TEST_API_ENABLE_ASYNC=ON -DHDF5_BUILD_TOOLS=ON -DHDF5_BUILD_FORTRAN=ON -DHDF5_BUILD_EXAMPLES=OFF \
  -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_HL_LIB=OFF -DHDF5_NO_PACKAGES=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF \
  -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -Wno-dev
quietly cmake --build "$work/build" --target "${programs[@]}" hdf5_fortran-shared

# Only parts were built, so only these can be installed.
for component in libraries headers fortlibraries fortheaders; do
  quietly cmake --install "$work/build" --component "$component"
done
mkdir -p "$destination/share/hdf5-tests"
cp -a --remove-destination "$work"/build/bin/libhdf5_{test,tools}.so* "$destination/lib/"
cp -a --remove-destination "${programs[@]/#/$work/build/bin/}" "$destination/bin/"
cp -a --remove-destination "$work/source/test/testfiles" "$destination/share/hdf5-tests/" # found by $srcdir
touch "$stamp"
