#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A command whose processes end soon and split nothing gets a context of one device from its fourth process on, until one
# takes longer; one that splits does not, nor does another command, or what is asked for by an option. And no program is
# translated for launches of fewer work-groups than devices, as long as nothing is split. Over a driver whose contexts
# take 50 ms, and whose GPUs only let time pass.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache GPUSPARC_REAL=$programs/fake.so
rm -rf cache asked
says='the last three runs of this command were short and split nothing'

# WHAT WORD ITEM_NS COMMAND...: `one` device, or `all`.
run() {
  local what=$1 word=$2
  FAKE_ITEM_NS=$3 gpusparc run --stats=stats.txt "${@:4}" >out.txt 2>&1 || fail "$what: $(cat out.txt)"
  if grep -q "$says" stats.txt; then [ "$word" = one ]; else [ "$word" = all ]; fi ||
    fail "$what: not $word: $(cat stats.txt)"
}
short=("$programs/paced" 20 1024)
for i in 1 2 3; do run "process $i" all 10 "${short[@]}"; done
run "process 4" one 10 "${short[@]}"
run "process 5" one 10 "${short[@]}"
shows stats.txt 'the last three runs of this command were short and split nothing'
run "another command" all 10 "$programs/paced" 21 1024
(mkdir -p elsewhere && cd elsewhere && run "another folder" all 10 "${short[@]}")
run "multi" all 10 --mode multi "${short[@]}"
run "a task" all 10 --task t --no-daemon "${short[@]}"
run "forgotten" all 10 --forget "${short[@]}"

# A process that takes longer runs to its end on one device, and is the last.
for i in 1 2; do run "again, process $i" all 10 "${short[@]}"; done
run "a long process" one 40000 "${short[@]}"
run "after it" all 10 "${short[@]}"

# Damaged entries aren't believed.
for i in 1 2; do run "then, process $i" all 10 "${short[@]}"; done
run "before the damage" one 10 "${short[@]}"
sed -i 's/ 3 / 4 /' cache/gpusparc/vain-*
run "damaged" all 10 "${short[@]}"
for entry in cache/gpusparc/vain-*; do noise 1000 >"$entry"; done
run "destroyed" all 10 "${short[@]}"

# Three launches of 0.2 s of which the last is split.
splits=("$programs/paced" 3 65536)
for i in 1 2 3 4 5; do run "splits, process $i" all 3000 "${splits[@]}"; done
awk '$2 == "advance" && $4 > 0 { parts = 1 } END { exit !parts }' stats.txt || fail "nothing was split: $(cat stats.txt)"

# Nor does a process count that is long for what its contexts take.
long=("$programs/paced" 40 1024)
for i in 1 2 3 4; do run "long, process $i" all 40000 "${long[@]}"; done

printf '#!/bin/sh\necho once >>asked\nexec %s "$@"\n' "$GS_BUILD/lib/gpusparc/gpusparc-translate" >translator
chmod +x translator
export GPUSPARC_TRANSLATOR=$PWD/translator
run "one work-group" all 10 --mode multi "$programs/paced" 3 64
[ ! -e asked ] || fail "a program is translated for launches of one work-group"
grep -q 'fewer work-groups than there are devices' stats.txt || fail "it isn't said why: $(cat stats.txt)"
run "two work-groups" all 10 --mode multi "$programs/paced" 3 128
[ -s asked ] || fail "a program isn't translated"
echo passed
