#!/bin/sh
# Profiles go through the program tailrace-cube and come back equal; under a sanitizer, too.
#
#   round_trip.sh PROGRAM FOLDER
set -eu
program=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

cat >work.spec <<'SPEC'
<metrics><metric><uniq_name>time</uniq_name><dtype>DOUBLE</dtype>
<metric type="PREDERIVED_EXCLUSIVE"><uniq_name>mpi</uniq_name><dtype>FLOAT</dtype>
<cubeplinit>{ global(mask); ${i} = 0; while (${i} < ${cube::#callpaths}) {
  if (${cube::region::paradigm}[${cube::callpath::calleeid}[${i}]] eq "mpi") { ${mask}[${i}] = 1; };
  ${i} = ${i} + 1; }; return 0; }</cubeplinit>
<cubepl>{ ${t} = 0; if (${mask}[${calculation::callpath::id}] == 1) { ${t} = metric::time(e); };
  return ${t}; }</cubepl></metric>
<metric type="PREDERIVED_INCLUSIVE"><uniq_name>uneven</uniq_name><dtype>DOUBLE</dtype>
<cubepl>pos(metric::time(i) - metric::fixed::time(i) / ${cube::#locations})</cubepl></metric></metric></metrics>
SPEC
for form in "" "--big-endian --compress" "--dense"; do
  # shellcheck disable=SC2086  # words
  "$program" generate in.cubex --callpaths 200 --threads 1500 --metrics 8 $form
  for way in "" "--sync" "--compress" "--writer naive" "--writer pinned --writer-cpu 0"; do
    # shellcheck disable=SC2086
    "$program" remap --quiet --identity --threads 2 --budget 16MiB $way in.cubex out.cubex
    "$program" diff in.cubex out.cubex
    # shellcheck disable=SC2086
    "$program" remap --quiet -r work.spec --threads 2 $way in.cubex mapped.cubex
    [ -e first.cubex ] || cp mapped.cubex first.cubex
    "$program" diff first.cubex mapped.cubex
  done
done
"$program" dump -f json -m mpi mapped.cubex -o mapped.json
"$program" info mapped.cubex
