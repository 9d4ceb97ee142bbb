#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pooled.sh [MIB]: --memory pooled, over devices with less memory than the buffers have (small_memory.c). The bytes are those of the plain
# run, whose device has enough; no device holds more than six tenths of them. With MIB the programs once more, of so many, over
# PoCL's own limit of 1 GiB for each device.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/pooled_common.sh"
mib=${1:-0}

# moved BYTES: so many were brought to devices, and none evicted.
moved() { python3 -c '
import json, sys
m = json.load(open("stats.json"))["memory"]
sys.exit(m["brought"] != int(sys.argv[1]) or m["evicted"] != 0)' "$1" || fail "not $1 bytes moved: $(grep '"memory"' stats.json)"; }

kib=16384
export SMALL_MEMORY_OFFSETS=0
for case in stencil matrices gathers reduction images windows invalidates given; do
  plain plain.txt "$programs/pooled" $kib $case
  for room in $([[ $case =~ stencil|images ]] && echo 10) 5; do # MiB
    export SMALL_MEMORY_BYTES=$((room << 20))
    memory=pooled+host:64MiB alike "$case, $room MiB" "$programs/pooled" $kib $case
    peak 60 $((kib << 10)) "$case, $room MiB"
    # Where both halves of both buffers have room, a row of 4 KiB goes each way in each step.
    [ $case$room != stencil10 ] || moved 16384
    # Of a pipeline's images the one used longest ago makes way: each stage brings one of 2 MiB at most, and may send one away.
    [ $case != images ] || python3 -c '
import json, sys
m = json.load(open("stats.json"))["memory"]
sys.exit(m["brought"] > (11 + m["evictions"]) << 21)' || fail "images, $room MiB: $(grep '"memory"' stats.json)"
  done
done

# What a launch that isn't cut has no room for on its device goes to the other one, as far as there is room: what is read from a device
# and not written to another one is what the application reads, at most.
for case in images uncut; do
  plain plain.txt "$programs/pooled" $kib $case
  SMALL_MEMORY_BYTES=$((16 << 20)) SMALL_MEMORY_MOVED=$PWD/moved.txt alike "$case, to the other device" "$programs/pooled" $kib $case
  python3 -c '
import json, sys
(to, of), (to_other, of_other) = (map(int, line.split()) for line in open("moved.txt"))
stays = of + of_other - to - to_other
sys.exit(not to_other or stays > int(sys.argv[1]) << 10 or json.load(open("stats.json"))["memory"]["evicted"] > 2 << 20)' $kib || fail "$case, to the other device: $(cat moved.txt; grep '"memory"' stats.json)"
  SMALL_MEMORY_BYTES=$((8 << 20)) memory=pooled+host:64MiB alike "$case, to both" "$programs/pooled" $kib $case
done

# What the host writes goes to the windows that are there, rectangles as such: nothing is brought again but what two of them hold.
for case in writes rows; do
  plain plain.txt "$programs/pooled" $kib $case
  FAULT_COUNTS=$PWD/counts.txt layer=$layer:$programs/faults.so SMALL_MEMORY_BYTES=$((40 << 20)) alike $case "$programs/pooled" $kib $case
  [ "$(grep -c 'clEnqueue.*Rect' counts.txt)" = $([ $case = rows ] && echo 2 || echo 0) ] || fail "$case: $(grep clEnqueue counts.txt)"
  python3 -c '
import json, sys
n = {line.split()[0]: int(line.split()[1]) for line in open(sys.argv[1])}
sys.exit(sum(n.get(f"clEnqueue{k}", 0) for k in ("WriteBuffer", "WriteBufferRect", "ReadBuffer", "ReadBufferRect")) > 60
         or json.load(open("stats.json"))["memory"]["brought"] > 1 << 20)' counts.txt || fail "$case: $(grep '"memory"' stats.json; grep clEnqueue counts.txt)"
  # GPUs' drivers carry from and to pinned pieces then, several at a time.
  GPUSPARC_TRANSFER=pinned PAGEABLE=$PWD/pageable layer=$layer:$programs/as_gpu.so:$programs/pageable.so SMALL_MEMORY_BYTES=$((40 << 20)) \
    alike "$case on GPUs" "$programs/pooled" $kib $case
  awk '$1 < 8388608 || $2 || $3 < 2 { exit 1 }' pageable || fail "$case on GPUs: bytes of pinned and of pageable memory, at a time: $(cat pageable)"
done

# The host's memory of maps goes back with the last of them, unless the user has given it.
plain plain.txt "$programs/pooled" $kib maps
for wanted in pooled:"given back" pooled+host:64MiB:kept; do
  SMALL_MEMORY_BYTES=$((10 << 20)) memory=${wanted%:*} alike "maps, $wanted" "$programs/pooled" $kib maps
  grep -q "^maps: ${wanted##*:}" pooled.err || fail "maps, $wanted: $(cat pooled.err)"
done

plain plain.txt "$programs/pooled" $kib events
memory=pooled+host:64MiB alike events "$programs/pooled" $kib events

# A kernel's own limit of a work-group is advice: a driver that runs larger ones isn't overruled.
plain plain.txt "$programs/pooled" $kib stencil
SMALL_MEMORY_GROUP=32 memory=pooled+host:64MiB alike "a kernel that says 32 work-items" "$programs/pooled" $kib stencil

# Of two buffers of 8 MiB, which two devices of 6 MiB don't hold together, one is alive at a time: of 8 steps that are known
# beforehand nothing is kept that the next one overwrites (64 MiB are written).
export SMALL_MEMORY_BYTES=$((6 << 20))
plain plain.txt "$programs/pooled" $kib steps
memory=pooled+host:64MiB alike steps "$programs/pooled" $kib steps
python3 -c '
import json, sys
sys.exit(json.load(open("stats.json"))["memory"]["evicted"] > 16 << 20)' || fail "steps: $(grep '"memory"' stats.json)"
# What the devices pass to the host and get from it they do at the same time; a device, both ways at once; and the next turn's bytes
# come while one computes (overlap_counter.c).
export OVERLAP_REPORT=$PWD/overlaps SMALL_MEMORY_BYTES=$((3 << 20))
FAULT_COUNTS=$PWD/counts.txt layer=$layer:$programs/overlap_counter.so:$programs/faults.so memory=pooled+host:64MiB alike "steps, transfers counted" "$programs/pooled" $kib steps
read -r waits beside both_ways ahead _ <overlaps
[ $((4 * beside)) -gt $((3 * waits)) ] || fail "of $waits waits for transfers $beside were for two devices"
[ $((2 * both_ways)) -gt $waits ] || fail "of $waits waits for transfers $both_ways were for both directions"
[ $((2 * ahead)) -gt $waits ] || fail "beside $waits waits for transfers there were $ahead transfers to a device that computed"
unset OVERLAP_REPORT
# Windows have the memory of those that were evicted.
python3 -c '
import json, sys
made = int(dict(line.split() for line in open("counts.txt"))["clCreateBuffer"])
sys.exit(4 * made > json.load(open("stats.json"))["memory"]["evictions"])' || fail "of windows evicted, $(grep -o '"evictions": [0-9]*' stats.json), buffers made: $(grep clCreateBuffer counts.txt)"
# And nobody counts on an order between two devices that nothing makes: a driver begins late (lazy.h).
rm -f report
for case in stencil steps gathers reduction windows uncut; do
  plain plain.txt "$programs/pooled" 1024 $case
  SMALL_MEMORY_BYTES=$((640 << 10)) LAZY=unflushed,lanes,slow,late,poison LAZY_SEED=41 LAZY_STUCK_MS=60000 LAZY_REPORT=$PWD/report \
    layer=$programs/lazy.so:$layer memory=pooled+host:64MiB alike "$case, a driver that is lazy" "$programs/pooled" 1024 $case
  [ ! -e report ] || fail "$case, a driver that is lazy: $(cat report)"
done
plain plain.txt "$programs/pooled" 1024 whole
SMALL_MEMORY_BYTES=$((40 << 20)) LAZY=poison LAZY_REPORT=$PWD/report layer=$programs/lazy.so:$layer alike "whole, a driver that forgets" "$programs/pooled" 1024 whole
[ ! -e report ] || fail "whole, a driver that forgets: $(cat report)"
export SMALL_MEMORY_BYTES=$((6 << 20))
plain plain.txt "$programs/pooled" $kib steps
# The same where the driver pins the host place, as it does of GPUs.
layer=$layer:$programs/as_gpu.so memory=pooled+host:64MiB alike "steps on GPUs" "$programs/pooled" $kib steps

# What stays on one device, where that has room for all.
export SMALL_MEMORY_BYTES=$((40 << 20))
# What the host never held isn't given back to the system by each launch that overwrites it.
rm -f given_back
GIVEN_BACK=$PWD/given_back LD_PRELOAD=$programs/given_back.so alike "pages given back" "$programs/pooled" $kib steps
[ ! -e given_back ] || fail "with room for all, pages were given back $(cat given_back) times"
plain plain.txt "$programs/pooled" 1024 whole
alike "whole" "$programs/pooled" 1024 whole
stats stats.json single:many:"it has too many arguments: gpusparc can't pass it parts of its buffers"
shows stats.json "its kernel %s %s, so that its pointers can't be moved"
plain plain.txt "$programs/pooled" $kib gathers
alike "gathers on one device" "$programs/pooled" $kib gathers
stats stats.json single:scatter:"its parts may write the same bytes or read each other's, and it fits on one device"

# A launch that finds all its bytes is enqueued while the one before it runs: of 8 steps all but the first.
plain plain.txt "$programs/pooled" 1024 steps
layer=$layer:$programs/overlap_counter.so OVERLAP_REPORT=$PWD/overlaps GPUSPARC_GPUS=1 alike "one device" "$programs/pooled" 1024 steps
read -r _ _ _ _ behind <overlaps
[ "$behind" = 7 ] || fail "one device: $behind launches were enqueued while another one ran, not 7"
# By their events none begins before that one has ended; and what has read of one that fails meanwhile fails, too.
plain plain.txt "$programs/pooled" 1024 behind
GPUSPARC_GPUS=1 alike "one behind the other" "$programs/pooled" 1024 behind
FAULT=clEnqueueNDRangeKernel:5:-5:late layer=$layer:$programs/faults.so GPUSPARC_GPUS=1 pooled pooled.txt "$programs/pooled" 1024 behind || :
[ "$(sed -n 's/^launch.*: \([a-z]*\).*/\1/p' pooled.txt | uniq -c | awk '{ print $1, $2 }' | paste -sd' ')" = "2 ended 3 failed" ] || fail "one that fails and those behind it: $(cat pooled.txt pooled.err)"
stats stats.json single:smooth:"there is one device"

# All there is of images but those made of buffers, which are refused.
plain plain.txt "$programs/images" own
alike "images" "$programs/images" own
stats stats.json single:flip:"it uses images, which --memory pooled doesn't cut"
! pooled pooled.txt "$programs/images" || fail "an image of a buffer was made"
grep -q '"images_refused": 1' stats.json || fail "the images refused: $(grep '"memory"' stats.json)"

# Parts of a CPU have no images there: PoCL would end the process.
rc=0
GPUSPARC_DEVICES=cpu:2 pooled pooled.txt "$programs/pooled" 64 images || rc=$?
[ $rc -lt 124 ] && grep -q '"images_refused": [1-9]' stats.json || { cat pooled.txt pooled.err; fail "images on parts of a CPU: exit status $rc"; }
plain plain.txt "$programs/pooled" 64 nothing
alike "commands on nothing" "$programs/pooled" 64 nothing
plain plain.txt "$programs/pooled" 64 parts
alike "sub-buffers" "$programs/pooled" 64 parts
pooled pooled.txt "$programs/pooled" 64 failing || { cat pooled.txt pooled.err; fail "a map that fails: exit status $?"; }
grep -q '^a map that fails, and its unmap: 0 mapped; unmapped once more: -30$' pooled.txt || fail "a map and its unmap that fail: $(cat pooled.txt)"
grep -q '^failing: -14, none, 0 mapped; a region that wraps: -30; no extension$' pooled.txt || fail "a map that fails, a region that wraps, an extension: $(cat pooled.txt)"

# What is behind a command that has failed fails, too.
plain plain.txt "$programs/failed_behind"
for gpus in 1 2; do
  GPUSPARC_GPUS=$gpus alike "behind a command that fails, --gpus $gpus" "$programs/failed_behind"
done

# What `devices --memory` says is what the application sees.
for wanted in pooled pooled+host:64MiB; do
  memory=$wanted pooled seen.txt "$programs/pooled" 0 memory || fail "what the device says of its memory"
  OPENCL_LAYERS=$layer gpusparc devices --memory $wanted --json >devices.json
  python3 -c '
import json, sys
m = json.load(open("devices.json"))["memory"]
sys.exit([m["bytes"]] * 2 != [int(n) for n in open("seen.txt").read().split()] or m["of_the_host"] != (67108864 if "host" in sys.argv[1] else 0))' $wanted || fail "devices --memory $wanted: $(grep -A3 '"memory"' devices.json), seen: $(cat seen.txt)"
done
OPENCL_LAYERS=$layer gpusparc devices --memory pooled+host:64MiB >devices.txt && OPENCL_LAYERS=$layer gpusparc devices --memory pooled >>devices.txt
grep -q "an application sees one device with 139 MiB, 64 MiB of it the host.s, and buffers" devices.txt || fail "devices --memory, as text"
grep -q "an application sees one device with 75 MiB and buffers" devices.txt || fail "devices --memory, as text, without the host's"
! gpusparc devices --memory pool 2>pooled.err || fail "devices --memory pool"
grep -q "'pool' is no value for --memory" pooled.err || fail "devices --memory pool: $(cat pooled.err)"

# More than all devices have, with the host's memory; without, it is refused as one device would.
export SMALL_MEMORY_BYTES=$((4 << 20))
plain plain.txt "$programs/pooled" $kib stencil
GPUSPARC_MEMORY=pooled+host:16MiB OPENCL_LAYERS=$layer gpusparc run "$programs/pooled" $kib stencil >pooled.txt 2>pooled.err || fail "by the variable: $(cat pooled.txt pooled.err)"
same "by the variable"
! pooled pooled.txt "$programs/pooled" $kib stencil || fail "16 MiB on two devices of 4 MiB"
grep -q 'clCreateBuffer.*error -\(61\|4\)' pooled.txt || fail "16 MiB on two devices of 4 MiB: $(cat pooled.txt)"

# Any work-item may read all of a buffer that no device can hold.
export SMALL_MEMORY_BYTES=$((3 << 20))
! memory=pooled+host:1GiB pooled pooled.txt "$programs/pooled" $kib gathers || fail "a gather that can't be done"
grep -q 'error -4' pooled.txt || fail "a gather that can't be done: $(cat pooled.txt)"
stats stats.json single:gather:"one work-group may touch more bytes than fit on a device"

# A handler of exit() that runs after ours, which has closed the driver to our threads, waits for what hasn't ended.
plain plain.txt "$programs/wait_at_exit" 5
alike "a handler of exit() waits" "$programs/wait_at_exit" 5
for how in finish callback "status destructor"; do # one_client.bats has more ways to wait
  plain plain.txt "$programs/exit_joins_waiting_thread" $how
  alike "a handler of exit() joins ($how)" "$programs/exit_joins_waiting_thread" $how
done

plain plain.txt "$programs/sub_buffer_flags" buffers
alike "flags of sub-buffers" "$programs/sub_buffer_flags" buffers
plain plain.txt "$programs/retained_after_release" buffers
alike "queues and buffers retained again" "$programs/retained_after_release" buffers

# No allocation ever succeeds (each once: pooled_faults.sh).
export SMALL_MEMORY_BYTES=$((10 << 20))
! SMALL_MEMORY_DEVICES=0 pooled pooled.txt "$programs/pooled" 64 stencil || fail "no allocation succeeds: $(cat pooled.txt)"
grep -q 'error -' pooled.txt || fail "no allocation succeeds: $(cat pooled.txt)"
shows pooled.err "pooled memory: %s failed (error %d): what the buffers of its context hold is lost"

# Options that can't be had together, and values.
for options in "--verify" "--task x" "--mode single" "--pace=1s"; do
  # shellcheck disable=SC2086
  ! gpusparc run --memory pooled $options true 2>pooled.err || fail "--memory with $options"
  grep -q "memory can't be had with" pooled.err || fail "--memory with $options: $(cat pooled.err)"
done
for value in pool pooled+ pooled+host pooled+host: pooled+host:5 pooled+host:0GiB pooled+host:9999999999TiB; do
  ! gpusparc run --memory "$value" true 2>pooled.err || fail "--memory $value"
  grep -q "'$value' is no value for --memory" pooled.err || fail "--memory $value: $(cat pooled.err)"
done

[ "$mib" != 0 ] || { echo "left out, large buffers: they take memory, and are asked for by their MiB"; exit 0; }
layer='' kib=$((mib * 1024))
unset SMALL_MEMORY_BYTES
for case in stencil reduction windows matrices gathers images; do
  plain plain.txt "$programs/pooled" $kib $case
  POCL_MEMORY_LIMIT=1 alike "$case of $mib MiB" "$programs/pooled" $kib $case
  peak 60 $((mib << 20)) "$case of $mib MiB"
done
