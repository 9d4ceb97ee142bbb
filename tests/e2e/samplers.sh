#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A sampler lives until the launches in parts that use it have ended, though the driver lets go of it when the
# application does.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
"$programs/replaced_samplers" kept >kept.txt || fail "replaced_samplers kept fails without gpusparc"
for way in auto plain pinned; do
  for n in 2 3; do
    GPUSPARC_TRANSFER=$way timeout "$(left)" gpusparc run --no-daemon --devices cpu:$n --gpus $n --mode multi --stats=stats.json "$programs/replaced_samplers" >out.txt 2>err.txt ||
      { cat err.txt; fail "$way, $n devices"; }
    cmp kept.txt out.txt || { diff kept.txt out.txt; fail "$way, $n devices: computes something else"; }
    stats stats.json split:sampled
  done
  GPUSPARC_TRANSFER=$way gpusparc run --no-daemon --devices cpu:2 --mode multi --stats=stats.json "$programs/replaced_samplers" early >out.txt || fail "$way, early"
  cmp kept.txt out.txt || fail "$way: a sampler that is let go of once it is an argument"
  stats stats.json split:sampled
done
echo passed
