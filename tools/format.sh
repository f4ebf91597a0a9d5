#!/usr/bin/env bash
# Lays out all C and C++ sources with clang-format 14 and the repository's .clang-format.
#
#   tools/format.sh           rewrites the files
#   tools/format.sh --check   changes nothing; names the files with another layout, and fails if there are any
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp' '*.hpp' |
  while read -r file; do [ -f "$file" ] && printf '%s\n' "$file"; done)
[ ${#files[@]} -gt 0 ] || exit 0

case "${1:-}" in
  '') clang-format-14 -i "${files[@]}" ;;
  --check)
    if ! bad=$(clang-format-14 --dry-run --Werror "${files[@]}" 2>&1); then
      printf '%s\n' "$bad" | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error.*/\1/p' | sort | uniq -c
      printf 'Not laid out as .clang-format says (count of places above). Run: make format\n'
      exit 1
    fi
    ;;
  *)
    sed -n '2,6p' "$0"
    exit 2
    ;;
esac
