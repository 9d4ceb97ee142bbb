#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# blas.sh [fft]: a program linked with CLBlast, and clinfo; or one linked with clFFT: libraries of Debian's packages.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
if [ $# = 0 ] && [ -x "$programs/blas" ]; then
  "$programs/blas" >alone.txt || { cat alone.txt; fail "blas without gpusparc"; }
  grep -q "product right: 1" alone.txt || fail "CLBlast's product is wrong without gpusparc"
  gpusparc run --gpus 2 --mode multi --stats=blas.json "$programs/blas" >blas.txt || { cat blas.txt; fail "blas"; }
  cmp alone.txt blas.txt || { diff alone.txt blas.txt; fail "blas: another output"; }
  stats blas.json devices:2 some:XaxpyFaster
fi
if [ $# != 0 ] && [ -x "$programs/fft" ]; then
  "$programs/fft" >alone.txt || { cat alone.txt; fail "fft without gpusparc"; }
  for way in auto pinned; do
    GPUSPARC_TRANSFER=$way gpusparc run --gpus 2 --mode multi --stats=fft.json "$programs/fft" >fft.txt || { cat fft.txt; fail "fft"; }
    cmp alone.txt fft.txt || { diff alone.txt fft.txt; fail "fft, $way: another output"; }
    stats fft.json devices:2 split:fft_fwd split:fft_back split:transpose_gcn
  done
fi
if [ $# = 0 ] && command -v clinfo >/dev/null; then
  gpusparc run --devices cpu:2 clinfo --raw >clinfo.txt 2>clinfo.err || fail "clinfo gives $?"
  [ "$(grep -c 'CL_DEVICE_NAME ' clinfo.txt)" = 1 ] || { cat clinfo.txt; fail "clinfo sees other than one device"; }
  ! grep -q '^gpusparc' clinfo.txt clinfo.err || fail "gpusparc has something to say to clinfo"
fi
echo passed
