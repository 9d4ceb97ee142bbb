# SPDX-License-Identifier: MIT
# refuses STATUS TEXT ARGUMENTS...: `gpusparc $command ARGUMENTS...` ends so, and says TEXT in its one line; it
# prints nothing but where there are `answers`, too.
fail() { echo "FAILED: $*"; exit 1; }
refuses() {
  local status=$1 text=$2 rc=0
  shift 2
  gpusparc "$command" "$@" >out.txt 2>err.txt || rc=$?
  [ "$rc" = "$status" ] || { cat err.txt; fail "$* gave $rc"; }
  [ -n "${answers:-}" ] || [ ! -s out.txt ] || fail "$* wrote to stdout"
  [ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "$* wrote more than a line"; }
  grep -qF -- "$text" err.txt || { cat err.txt; fail "$*: missing: $text"; }
}
