#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A command whose processes end soon and split nothing gets a context of one device: from its second process on if splits
# could not have saved what the other devices' contexts take, else from its fourth on; until one takes longer. One that
# splits does not, nor does another command, or what is asked for by an option. And no program is translated for launches
# of fewer work-groups than devices, as long as nothing is split. Over a driver whose contexts take 50 ms, and whose GPUs
# only let time pass.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache GPUSPARC_REAL=$programs/fake.so
rm -rf cache asked
says='the last runs of this command were short and split nothing'

# WHAT WORD ITEM_NS COMMAND...: `one` device, or `all`.
run() {
  local what=$1 word=$2
  FAKE_ITEM_NS=$3 gpusparc run --stats=stats.txt "${@:4}" >out.txt 2>&1 || fail "$what: $(cat out.txt)"
  if grep -q "$says" stats.txt; then [ "$word" = one ]; else [ "$word" = all ]; fi ||
    fail "$what: not $word: $(cat stats.txt)"
}
short=("$programs/paced" 20 1024)
run "process 1" all 10 "${short[@]}"
for i in 2 3; do run "process $i" one 10 "${short[@]}"; done
shows stats.txt 'the last runs of this command were short and split nothing'
run "another command" all 10 "$programs/paced" 21 1024
(mkdir -p elsewhere && cd elsewhere && run "another folder" all 10 "${short[@]}")
run "multi" all 10 --mode multi "${short[@]}"
run "a task" all 10 --task t --no-daemon "${short[@]}"
run "forgotten" all 10 --forget "${short[@]}"

# A process that takes longer runs to its end on one device, and is the last.
run "a long process" one 40000 "${short[@]}"
run "after it" all 10 "${short[@]}"

# Damaged lines aren't believed.
run "before the damage" one 10 "${short[@]}"
sed -i 's/ 3 / 4 /' cache/gpusparc/vain-*
run "damaged" all 10 "${short[@]}"
head -c 1000 /dev/urandom >"$(echo cache/gpusparc/vain-*)"
run "destroyed" all 10 "${short[@]}"

# One launch of 0.8 s, of which a split could save 0.4, where contexts take that long; but its translation always comes
# too late: that may change, and three processes are waited for.
might=("$programs/paced" 1 65536)
printf '#!/bin/sh\nsleep 1\nexec %s "$@"\n' "$GS_BUILD/lib/gpusparc/gpusparc-translate" >late
chmod +x late
for word in all all all one; do
  rm -f cache/gpusparc/[0-9a-f][0-9a-f]* # its translation
  FAKE_START_NS=400000000 GPUSPARC_TRANSLATOR=$PWD/late run "late, $word" $word 12207 "${might[@]}"
done

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
