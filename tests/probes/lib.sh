# SPDX-License-Identifier: MIT
fail() { echo "FAILED: $*"; exit 1; }
refuses() { # STATUS TEXT ARGUMENTS...
  local status=$1 text=$2 rc=0
  shift 2
  gpusparc probe "$@" >out.txt 2>err.txt || rc=$?
  [ "$rc" = "$status" ] || { cat err.txt; fail "$* gave $rc"; }
  [ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "$* wrote more than a line"; }
  grep -qF -- "$text" err.txt || { cat err.txt; fail "$*: missing: $text"; }
}
