#!/usr/bin/env bash
# Builds MPICH's own tests of MPI-IO once into DESTINATION, for each MPI of this machine: they run with the library
# that carries MPI-IO (bindings/mpiio). The source is Debian bookworm's.
#
#   tools/build_mpich_tests.sh [DESTINATION]                .deps/mpich-tests by default
#   tools/build_mpich_tests.sh --is-built [DESTINATION]     only reports that, by its exit code
#
# DESTINATION/SUITE/testlist has a line for each test: the program, how many ranks, and its arguments; the program is
# DESTINATION/MPI/SUITE/PROGRAM. Suites are the C programs `io` and `errors`, ROMIO's own `romio`, and in Fortran
# `f77` (mpif.h), `f90` (use mpi) and `f08` (use mpi_f08). `not-built` names the programs that an MPI refuses.
#
# Takes about a minute on two cores; does nothing if DESTINATION is complete. Needs apt-get (it uses the mirror of the
# system's own packages) and perl. Does not configure MPICH's tests: the few things that it would find out are here.
set -euo pipefail

source "$(dirname "$0")/build_once.sh"
source "$(dirname "$0")/debian_source.sh"

look=()
[ "${1:-}" != --is-built ] || { look=(--is-built) && shift; }
found=$(python3 -B "$(dirname "$0")/../python/tailrace/mpis.py" --json)
declare -A cc # by the MPI's name
while read -r name compiler; do cc[$name]=$compiler; done < <(python3 -c '
import json, sys
for mpi in json.loads(sys.argv[1])["mpis"]:
    print(mpi["name"], mpi["cc"])' "$found")
mpis=$(printf '%s\n' "${!cc[@]}" | sort | paste -sd ' ')
begin_building "MPICH's tests of MPI-IO" "complete-4.0.2-1-${mpis// /-}" "${look[@]}" \
  "${1:-$(dirname "$0")/../.deps/mpich-tests}"
rm -rf "$destination"/* # of other MPIs

tests=$work/source/test/mpi
romio=$work/source/src/mpi/romio/test
suites=(io errors romio f77 f90 f08)

# folder SUITE: prints where its sources are.
folder() {
  case $1 in
    io) echo "$tests/io" ;;
    romio) echo "$romio" ;;
    *) echo "$tests/$1/io" ;;
  esac
}

write_config() {
  printf '#define HAVE_%s 1\n' STDARG_H STRING_H UNISTD_H SYS_TIME_H SYS_RESOURCE_H GETRUSAGE LONG_LONG_INT \
    LONG_DOUBLE
  printf '#define F77_NAME_LOWER_USCORE 1\n#define THREAD_PACKAGE_NAME THREAD_PACKAGE_NONE\n'
} >"$tests/include/mpitestconf.h"

# Open MPI has the markers of bounds that MPI 3.0 removed, but does not declare them. Some of ROMIO's tests use them.
declare_bounds() {
  printf '#include <mpi.h>\n#ifdef OPEN_MPI\n'
  printf '#undef MPI_%s\n#define MPI_%s OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_%s)\n' LB LB lb UB UB ub
  printf 'extern struct ompi_predefined_datatype_t ompi_mpi_%s;\n' lb ub
  printf '#endif\n'
} >"$tests/include/bounds.h"

# Completes the sources that configure would complete, and those that MPICH makes from one frame. The package lacks
# the frame of `f90`, which is made from that of `f77` (f08/io/Makefile.am).
complete_sources() {
  local file
  for file in "$tests"/f77/io/*.h.in "$romio"/*.[cf].in; do
    sed -E -e 's/@(F77|FORTRAN)_MPI_OFFSET@/integer*8/; s/@F77_MPI_ADDRESS@/integer*8/; s/@LL@/lld/' \
      -e 's/@F77IARGC@/iargc()/; s/@F77GETARG@/call getarg(i,str)/; s/@F77MPIOINC@//' "$file" >"${file%.in}"
  done
  sed -e 's/filename="\(.*\)f.f"/filename="\1f90.f90"/' \
    -e 's/include.*iooffset.*/integer (kind=MPI_OFFSET_KIND) offset/' \
    "$tests/f77/io/ioharness.defn" >"$tests/f90/io/ioharness.defn"
  sed -e 's/include.*mpif.*/use mpi/; s/fheader/f90header/; s/^C/!/; /implicit *none/d' \
    "$tests/f77/io/ioharness.tlt" >"$tests/f90/io/ioharness.tlt"
  tail -n +2 "$tests/maint/testmerge.in" >"$work/testmerge" # without a line that configure completes
  for file in f77 f90 f08; do
    (cd "$tests/$file/io" && perl "$work/testmerge" "-defn=$tests/maint/common.defn" ioharness.defn ioharness.tlt)
  done
}

# Makes a list of ROMIO's tests, which a script starts. The script leaves out those of the last lines; the rest checks
# nothing, or needs gigabytes.
list_romio() {
  local ranks program words
  sed -n 's/^[[:space:]]*\$mpirun -np //p' "$romio/runtests.in" | while read -r ranks program words; do
    words=${words//\$FILENAME/test}
    echo "${program#./} $ranks${words:+ arg=${words// / arg=}}"
  done
  echo 'creat_excl 4 arg=-fname arg=test'
  echo 'external32 1'
  echo 'big_extents 4 arg=test'
}

# compile MPI SUITE PROGRAM: makes a program of all files that belong to it; if it cannot, names it in `not-built`.
compile() {
  local mpi=$1 suite=$2 name=$3 from file log=$work/$1/$2_$3.log
  local files=() options=(-O0 -w "-I$tests/include") compiler=${cc[$1]} helpers=("$work/$1/mtest.o")
  from=$(folder "$suite")
  for file in "$from/$name".{c,f,f90}; do [ ! -f "$file" ] || files+=("$file"); done
  case $suite:$name in
    f77:c2f2ciof) files+=("$from/c2f2cio.c") ;;
    *:c2f2ciof90) files+=("$tests/f90/io/c2f902cio.c") ;;
  esac
  case ${files[0]} in
    *.f | *.f90)
      compiler=${cc[$mpi]/mpicc/mpif90} helpers=("$work/$mpi/mtest_$suite.o")
      options+=(-fallow-argument-mismatch "-I$from")
      ;;
  esac
  case $suite:${files[0]} in
    romio:*.f) helpers=() ;;
    romio:*) helpers=() && options+=(-include bounds.h) ;;
  esac
  "$compiler" "${options[@]}" "${files[@]}" "${helpers[@]}" -o "$destination/$mpi/$suite/$name" >"$log" 2>&1 ||
    { echo "$suite/$name" >>"$destination/$mpi/not-built" && cat "$log" >>"$destination/$mpi/not-built.log"; }
}

# compile_helpers MPI: makes the functions that most programs use, in C and each kind of Fortran, if it is there.
compile_helpers() {
  local file fortran=${cc[$1]/mpicc/mpif90}
  for file in mtest mtest_common mtest_single; do
    quietly "${cc[$1]}" -O0 -w "-I$tests/include" -c "$tests/util/$file.c" -o "$work/$1/one_$file.o"
  done
  ld -r "$work/$1"/one_*.o -o "$work/$1/mtest.o"
  command -v "$fortran" >/dev/null || return 0
  for file in "$tests"/util/mtest_f[0-9]*.f*; do
    quietly "$fortran" -O0 -w -fallow-argument-mismatch -c "$file" -o "$work/$1/$(basename "${file%.*}").o"
  done
}

fetch_debian_source bookworm mpich 'mpich_4.0.2.orig.tar.*'
write_config
declare_bounds
quietly complete_sources
for suite in "${suites[@]}"; do
  mkdir -p "$destination/$suite"
  case $suite in
    romio) list_romio && cp "$romio/test_hintfile" "$destination/romio" >&2 ;;
    *) cat "$(folder "$suite")"/testlist{.in,} 2>/dev/null || true ;;
  esac | grep -v '^#' >"$destination/$suite/testlist"
done
for mpi in $mpis; do
  mkdir -p "$work/$mpi" "${suites[@]/#/$destination/$mpi/}"
  touch "$destination/$mpi/not-built"
  compile_helpers "$mpi"
  for suite in "${suites[@]}"; do
    while read -r name _; do
      [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n || true
      compile "$mpi" "$suite" "$name" &
    done <"$destination/$suite/testlist"
  done
done
wait
touch "$stamp"
