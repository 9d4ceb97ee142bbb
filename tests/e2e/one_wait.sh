#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An application that enqueues all its launches and waits once, over a driver whose GPUs only let time pass: 100 launches
# of 27 ms. Auto mode splits most of them in the first process ever, and nearly all in the second, by what it has learnt
# in one that never waited in between. What it left for later is counted, and the table says what to do.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache GPUSPARC_REAL=$programs/fake.so FAKE_ROUNDS=2 FAKE_ITEM_NS=0.00012
rm -rf cache
once() { gpusparc run "$@" "$programs/paced" 100 65536 3400000; }
split() { sed -n 's/.*"name": "churn".*"split": \([0-9]*\),.*/\1/p' "$1"; }
once --stats=first.json || fail "the first process"
[ "$(split first.json)" -ge 50 ] || fail "first process: $(cat first.json)"
later=$(sed -n 's/.*"later": \([0-9]*\).*/\1/p' first.json)
[ "$((later + $(split first.json)))" = 100 ] || fail "$later launches left for later: $(cat first.json)"
once --stats=second.json || fail "the second process"
[ "$(split second.json)" -ge 95 ] || fail "second process: $(cat second.json)"
# Four launches of 1.6 s: while the first runs the others wait for what it shows, and for the translation.
rm -rf cache
gpusparc run --stats=few.json "$programs/paced" 4 65536 204000000 || fail "four long ones"
[ "$(split few.json)" -ge 1 ] || fail "four long ones: $(cat few.json)"
once --forget --stats 2>table.txt || fail "the table"
[ "$(grep -c -- "--mode multi would split them" table.txt)" = 1 ] || fail "no advice: $(cat table.txt)"
once --mode multi --stats 2>multi.txt || fail "multi"
! grep -- "--mode multi would split" multi.txt || fail "advice to use what is used"
