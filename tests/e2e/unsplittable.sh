#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the translator says of a kernel comes before what auto mode chose without it, from the first process on: a kernel
# that can never be split (programs/unsplittable.c) is not "too short", and has no expected times. The advice to use mode multi
# counts what that mode does split.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export GPUSPARC_DEVICES=cpu:2 XDG_CACHE_HOME=$PWD/cache
rm -rf cache
waits='it waits for other work-groups' atomic='it uses the result of an atomic on global memory'
"$programs/unsplittable" >plain.txt
look() { # NAME: of the table and the JSON: chained is never split, and no time is expected of it
  cmp -s plain.txt "$1.txt" || fail "$1: other results"
  stats "$1.json" right single:chained:"$waits" way:chained:whole
  python3 - "$1.json" <<'P' || fail "$1: $(cat "$1.json")"
import json, sys
k = {k["name"]: k for k in json.load(open(sys.argv[1]))["kernels"]}
assert len(k["chained"]["reasons"]) == 1 and "later" not in k["chained"] and "choice" not in k["chained"]
P
}
for end in keep release; do # the first process of all, and one for which the translation is at hand
  for run in first again; do
    [ $run = again ] || rm -rf cache
    gpusparc run --stats=$end-$run.json "$programs/unsplittable" $end >$end-$run.txt
    look $end-$run
    stats $end-$run.json single:ticket:"$atomic" single:fine
  done
done
rm -rf cache
gpusparc run --stats "$programs/unsplittable" keep 2>table.err >table.txt
grep -q "^gpusparc: launches that auto mode has left on one device for now: 1; --mode multi would split them" table.err || fail "advice: $(cat table.err)"
gpusparc run --mode multi --stats=multi.json "$programs/unsplittable" keep >multi.txt
look multi
shows table.err "launches that auto mode has left on one device for now: %llu; --mode multi would split them, whether it pays or not"
stats multi.json split:fine single:ticket:"$atomic"
# On separate memories, too.
rm -rf cache
GPUSPARC_TRANSFER=plain gpusparc run --stats "$programs/unsplittable" release 2>table.err >table.txt
grep -q "^gpusparc: launches that auto mode has left on one device for now: 1;" table.err || fail "advice, separate memories: $(cat table.err)"
grep "chained .*$waits (1)$" table.err || fail "table: $(cat table.err)"
