#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --verify finds nothing wrong where devices have memories of their own and some bytes have no value yet.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" unwritten split:rows
for way in plain pinned; do
  GPUSPARC_TRANSFER=$way gpusparc run --gpus 2 --mode multi --verify --stats="$way-verify.json" "$programs/unwritten" >verify.txt 2>verify.err
  cmp alone.txt verify.txt || fail "unwritten, $way: another output"
  [ ! -s verify.err ] || { cat verify.err; fail "unwritten, $way: --verify says so"; }
  stats "$way-verify.json" devices:2 right split:rows
done
echo passed
