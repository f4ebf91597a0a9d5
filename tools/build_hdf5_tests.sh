#!/usr/bin/env bash
# Builds HDF5 1.14.5 once into DESTINATION, in the form that programs use: shared, with the tools, Fortran, and its
# own tests, which run with the connector (bindings/hdf5_vol). The source is Debian trixie's: crates have no tests.
#
#   tools/build_hdf5_tests.sh [DESTINATION]                .deps/hdf5-tests by default
#   tools/build_hdf5_tests.sh --is-built [DESTINATION]     only reports that, by its exit code
#   tools/build_hdf5_tests.sh DESTINATION SOURCE [OPTION…] builds another one, with options for CMake. SOURCE is a
#                                                          directory with HDF5's source, or 1.14.6, 2.0.0, 2.1.0 or
#                                                          2.2.0, which crates have without tools and tests
#
# Takes about two minutes on two cores; does nothing if DESTINATION is complete. Needs apt-get (it uses the mirror of
# the system's own packages), cmake, ninja, gfortran and zlib; for a crate cargo. At -O1, as in build_hdf5.sh.
set -euo pipefail

source "$(dirname "$0")/build_once.sh"
source "$(dirname "$0")/debian_source.sh"

look=()
[ "${1:-}" != --is-built ] || { look=(--is-built) && shift; }
what=${2:-1.14.5}
options=("${@:3}")
stamp_name=complete-$what-2
[ $# -le 1 ] || stamp_name=complete-$(printf '%s ' "${@:2}" | cksum | cut -d' ' -f1)
begin_building "HDF5 $what with its tests" "$stamp_name" "${look[@]}" "${1:-$(dirname "$0")/../.deps/hdf5-tests}"

# Keeps two of the eight kinds of file that `dsets` makes in turn, unless DSETS_ALL is set: each takes four seconds.
shorten_dsets() {
  sed -i -E 's/(paged|minimized_ohdr) <= true/\1 <= (getenv("DSETS_ALL") != NULL)/' "$work/source/test/dsets.c"
  [ "$(grep -c DSETS_ALL "$work/source/test/dsets.c")" = 2 ]
}

# The crates `hdf5-metno-src` that have a version.
declare -A crates=([1.14.6]=0.9.5 [2.0.0]=0.10.0 [2.1.0]=0.10.2 [2.2.0]=0.10.4)

programs=(h5_api_test testhdf5 dsets dtypes h5copy h5diff h5dump h5ls h5repack h5stat)

cmake=cmake
source=$work/source
if [ "$what" = 1.14.5 ]; then
  fetch_debian_source trixie hdf5 'hdf5_1.14.5*.orig.tar.*'
  quietly shorten_dsets
else
  recent_cmake
  source=$work/vendor/hdf5-metno-src/ext/hdf5
  if [ -n "${crates[$what]:-}" ]; then
    fetch_crates hdf5-metno-src "${crates[$what]}"
  else
    source=$(realpath -e -- "$what")
  fi
fi
tests=ON
[ -d "$source/test" ] || tests=OFF
quietly "$cmake" -S "$source" -B "$work/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DCMAKE_Fortran_FLAGS_RELEASE=-O1 \
  -DCMAKE_INSTALL_PREFIX="$destination" -DCMAKE_INSTALL_LIBDIR=lib \
  -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_INSTALL_RPATH='$ORIGIN/../lib' \
  -DBUILD_SHARED_LIBS=ON -DBUILD_STATIC_LIBS=OFF -D{HDF5_,}ONLY_SHARED_LIBS=ON -DBUILD_TESTING=$tests \
  -DHDF5_TEST_API=$tests -DHDF5_TEST_API_ENABLE_ASYNC=$tests -DHDF5_BUILD_TOOLS=$tests -DHDF5_BUILD_FORTRAN=$tests \
  -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_HL_LIB=OFF -DHDF5_NO_PACKAGES=ON \
  -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DHDF5_ENABLE_{Z_LIB,ZLIB}_SUPPORT=ON -Wno-dev "${options[@]}"
if [ "$tests" = OFF ]; then
  quietly "$cmake" --build "$work/build" --target install
  touch "$stamp"
  exit
fi
quietly "$cmake" --build "$work/build" --target "${programs[@]}" hdf5_fortran-shared

# Only parts were built, so only these can be installed.
for component in libraries headers fortlibraries fortheaders; do
  quietly "$cmake" --install "$work/build" --component "$component"
done
mkdir -p "$destination/share/hdf5-tests"
cp -a --remove-destination "$work"/build/bin/libhdf5_{test,tools}.so* "$destination/lib/"
cp -a --remove-destination "${programs[@]/#/$work/build/bin/}" "$destination/bin/"
cp -a --remove-destination "$source/test/testfiles" "$destination/share/hdf5-tests/" # found by $srcdir
touch "$stamp"
