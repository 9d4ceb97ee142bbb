#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is needed, and goes through the stages that are named, or all of them in this order:
#   format   every C file is as clang-format has it
#   rooms    builds; no room looks into one above it (tests/rooms)
#   fast     builds; the tests of pure code and one end-to-end run, in less than two minutes
#   all      builds; every test that no stage before has run
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- format rooms fast all
scripts/deps.sh --test
run_tests() {
  scripts/build.sh build
  ctest --test-dir build --output-on-failure -j 3 "$@" # some wait more than they compute
}
rest=() # what `all` leaves out
for stage; do
  case $stage in
  format)
    command -v clang-format-14 >/dev/null || { echo "test: format is left out: there is no clang-format-14"; continue; }
    find bench cli common gema samples scheduler shim tests translator -name '*.[ch]' -not -path 'tests/kernels/*' \
      -exec clang-format-14 --dry-run --Werror {} + ;;
  rooms) run_tests -R '^rooms$' ;;
  fast) run_tests -L '^fast$' && rest=(-LE '^fast$') ;;
  all) run_tests "${rest[@]}" ;;
  *) echo "test: $stage is no stage: format, rooms, fast, all" >&2; exit 2 ;;
  esac
done
