#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Launches that each write rows all over one large image, enqueued one after the other (programs/interleaved.c): to put
# the image together moves all of it, so that it is done once, and not again for each launch that comes meanwhile.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
image=$((16 << 20))
"$programs/interleaved" >alone.txt
for mode in multi auto; do
  GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:2 --mode $mode --stats=$mode.json "$programs/interleaved" >out.txt
  cmp alone.txt out.txt || fail "$mode: another image"
  moved=$(python3 -c 'import json, sys; print(sum(p["bytes"] for n, p in json.load(open(sys.argv[1]))["bytes"].items() if not n.startswith("app")))' $mode.json)
  echo "$mode: $((moved >> 20)) MiB moved"
  [ "$moved" -le $((6 * image)) ] || fail "$mode moves $((moved / image)) times the image"
done
stats multi.json some:rows
shows multi.json "an image that it writes is still being put together after an earlier split"
