#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Launches that each write rows all over one large image, enqueued one after the other (programs/interleaved.c): to put
# the image together moves all of it, so that it is done once, and not again for each launch that comes meanwhile. Large
# ones are put together in pieces of at most 64 MiB: of whole rows, of whole slices, and of rows of a slice.
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

for sizes in "4099 4500 1" "4096 4210 2" "1030 1000 19"; do
  # shellcheck disable=SC2086
  "$programs/interleaved" $sizes >alone.txt
  # shellcheck disable=SC2086
  GPUSPARC_TRANSFER=plain gpusparc run --devices cpu:3 --mode multi --stats=large.json "$programs/interleaved" $sizes >out.txt
  cmp alone.txt out.txt || fail "$sizes: another image"
  pieces=$(python3 -c 'import json; print(json.load(open("large.json"))["bytes"]["merge"]["transfers"] // 2)')
  echo "$sizes: $pieces pieces"
  [ "$pieces" -ge 2 ] || fail "$sizes: not in pieces"
done
