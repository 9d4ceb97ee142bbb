#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Launches that each write rows all over one image (programs/interleaved.c) run on one device: to put the image together
# would move all of it for each.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
"$programs/interleaved" >alone.txt
for mode in multi auto; do
  GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode $mode --stats=$mode.json "$programs/interleaved" >out.txt
  cmp alone.txt out.txt || fail "$mode: another image"
  stats $mode.json single:rows
  moved=$(python3 -c 'import json, sys; print(sum(p["bytes"] for n, p in json.load(open(sys.argv[1]))["bytes"].items() if not n.startswith("app")))' $mode.json)
  [ "$moved" -le $((16 << 20)) ] || fail "$mode moves $moved bytes" # the application reads it once
done
shows multi.json "its parts may write anywhere in an image"
