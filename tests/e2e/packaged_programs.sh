#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# packaged_programs.sh blas | fft | clinfo: a program linked with CLBlast, one linked with clFFT, or clinfo, all of Debian's packages.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
alone() { # PROGRAM
  [ -x "$programs/$1" ] || { echo "left out: $1 isn't built, as its library isn't installed"; exit 77; }
  "$programs/$1" >alone.txt || { cat alone.txt; fail "$1 without gpusparc"; }
}
same() { # PROGRAM STATISTICS...
  gpusparc run --gpus 2 --mode multi --stats="$1.json" "$programs/$1" >"$1.txt" || { cat "$1.txt"; fail "$1"; }
  cmp alone.txt "$1.txt" || { diff alone.txt "$1.txt"; fail "$1, ${GPUSPARC_TRANSFER:-auto}: another output"; }
  stats "$1.json" devices:2 "${@:2}"
}
case $1 in
blas)
  alone blas
  grep -q "product right: 1" alone.txt || fail "CLBlast's product is wrong without gpusparc"
  same blas some:XaxpyFaster
  ;;
fft)
  alone fft
  for way in auto pinned; do GPUSPARC_TRANSFER=$way same fft split:fft_fwd split:fft_back split:transpose_gcn; done
  ;;
clinfo)
  command -v clinfo >/dev/null || { echo "left out: clinfo isn't installed"; exit 77; }
  gpusparc run --devices cpu:2 clinfo --raw >clinfo.txt 2>clinfo.err || fail "clinfo gives $?"
  [ "$(grep -c 'CL_DEVICE_NAME ' clinfo.txt)" = 1 ] || { cat clinfo.txt; fail "clinfo sees other than one device"; }
  ! grep -q '^gpusparc' clinfo.txt clinfo.err || fail "gpusparc has something to say to clinfo"
  ;;
esac
echo passed
