#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A disk that is full is called that, once, whatever is written. (/dev/full is one.)
set -euo pipefail
source "$GS_SOURCE/tests/cli/common.sh"
full="No space left on device"
conf=$GS_SOURCE/docs/gpusparc.conf
ln -sf /dev/full full.svg
ln -sf /dev/full full.json
says "$full" analyze --timeline full.svg "$conf"
says "$full" analyze --timeline full.json "$conf"
ln -sf /dev/full page.html
says "$full" analyze --html page.html "$conf"
says "$full" simulate --sets 10 --csv /dev/full
says "$full" timing "alu alu" --warps 2 --scheduler lrr --svg full.svg
says() { # of run: the application's status is its own
  local text=$1 said
  shift
  said=$(gpusparc "$@" 2>&1 >/dev/null </dev/null) || complain "gpusparc $*: exit status $?"
  [[ $said == gpusparc*": "*"$text"* && $(wc -l <<<"$said") = 1 ]] || complain "gpusparc $* says: $said"
}
matmul=("$GS_BUILD/lib/gpusparc/samples/matmul" --size 64)
says "$full" run --devices cpu:2 --stats=/dev/full "${matmul[@]}"
says "$full" run --devices cpu:2 --stats=full.json "${matmul[@]}"
says "the log ends here, it can't be written: $full" run --devices cpu:2 --log=/dev/full "${matmul[@]}"
# Each command that prints says so of its standard output.
for c in "check $conf" "analyze $conf" "analyze --json $conf" "cache" "devices" "explain $GS_SOURCE/tests/kernels/plain.cl" "simulate --sets 10 --json"; do
  # shellcheck disable=SC2086
  said=$(gpusparc $c 2>&1 >/dev/full) || true
  [[ $said == "gpusparc: can't write to standard output: $full" ]] || complain "gpusparc $c >/dev/full says: $said"
done
exit $fail
