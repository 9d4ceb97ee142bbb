#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# two_threads.sh: two threads that share a queue: what the one enqueues while the other's bytes go through the pinned ring comes
# before these or after them, and waits for nothing that waits for it. And a launch that has asked for a unit, and waits
# for what came before it after all, keeps no other from running, nor does a read that waits for its application.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
own_daemon watchdog=100s transfer_chunk=64MiB <<'END'
[task one]
period = 20s
mode = 1
END
begin_daemon
for options in "--gpus 1 --mode single" "--gpus 2 --mode multi"; do
  read -ra words <<<"$options"
  OPENCL_LAYERS=$programs/call_hooks.so GPUSPARC_TRANSFER=pinned timeout "$(left)" gpusparc run --devices cpu:2 "${words[@]}" \
    "$programs/enqueue_during_write" >out.txt || { cat out.txt; fail "$options: it hangs"; }
  cat out.txt
  grep -q "small write came between" out.txt || fail "$options: the small write came too early, or too late"
  grep -q "launch came after the bytes" out.txt || fail "$options: the launch came too early"
done
# Where there is one device two threads' launches are in the driver side by side.
OPENCL_LAYERS=$programs/call_hooks.so gpusparc run --no-daemon --devices cpu:2 --gpus 1 --mode single "$programs/launches_side_by_side" ||
  fail "a launch keeps another thread's out of the driver"
# What one thread reads, maps or writes by a call has bytes of before the other one's launch or of after it, not of both.
for transfer in plain auto pinned; do
  OPENCL_LAYERS=$programs/call_hooks.so "$programs/launch_during_transfer" >plain.txt || fail "launch_during_transfer without gpusparc"
  for devices in cpu:2 cpu:3; do
    OPENCL_LAYERS=$programs/call_hooks.so GPUSPARC_TRANSFER=$transfer timeout "$(left)" \
      gpusparc run --no-daemon --devices $devices --mode multi --stats=during.json "$programs/launch_during_transfer" >out.txt || { cat out.txt; fail "launch_during_transfer hangs"; }
    diff plain.txt out.txt || fail "$transfer, $devices: a mixture"
    [ $transfer = pinned ] || stats during.json why:fill:"another thread is using one of its memory objects"
  done
done
# What one thread writes by a call isn't overtaken by old bytes that the other one's launch takes along, the context's first split.
for transfer in plain auto pinned; do
  OPENCL_LAYERS=$programs/call_hooks.so GPUSPARC_TRANSFER=$transfer timeout 100 \
    gpusparc run --no-daemon --devices cpu:2 --mode multi --stats=ranges.json "$programs/write_between_ranges" >out.txt || fail "$transfer: write_between_ranges ends with status $?"
  [ "$(cat out.txt)" = "3071 4711 3075" ] || fail "$transfer: an old word: $(cat out.txt)"
  stats ranges.json split:even split:copy
  OPENCL_LAYERS=$programs/call_hooks.so GPUSPARC_TRANSFER=$transfer timeout 100 \
    gpusparc run --no-daemon --devices cpu:2 --mode multi --stats=ranges.json "$programs/write_between_ranges" back >out.txt || fail "$transfer: write_between_ranges back ends with status $?"
  [ "$(cat out.txt)" = "3071 4711 3075" ] || fail "$transfer: an old word comes back: $(cat out.txt)"
  [ $transfer = auto ] || stats ranges.json split:turn # there the devices share the memory
done
# Another thread lets a buffer go for the last time while a call transfers it.
OPENCL_LAYERS=$programs/call_hooks.so "$programs/release_during_transfer" >plain.txt || fail "release_during_transfer without gpusparc"
for options in "--mode single --gpus 1" "--mode multi"; do
  read -ra words <<<"$options"
  for transfer in plain auto pinned; do
    for when in "" early; do # where nothing is ours the driver's call is all that there is, as plain
      [ "$options$when" != "--mode single --gpus 1early" ] || continue
      MALLOC_PERTURB_=165 OPENCL_LAYERS=$programs/call_hooks.so GPUSPARC_TRANSFER=$transfer timeout 100 \
        gpusparc run --no-daemon --devices cpu:2 "${words[@]}" "$programs/release_during_transfer" $when >out.txt || fail "$options, $transfer: release_during_transfer $when ends with status $?"
      diff plain.txt out.txt || fail "$options, $transfer: other bytes, let go $when"
    done
  done
done
# Nor does a read or map wait for what another thread has launched behind a user event since, and after another launch.
for what in read map; do
  for transfer in plain auto pinned; do
    OPENCL_LAYERS=$programs/call_hooks.so GPUSPARC_TRANSFER=$transfer timeout 100 \
      gpusparc run --no-daemon --devices cpu:2 --mode multi "$programs/read_before_waiting_launch" $what || fail "$transfer: a $what waits for a later launch"
  done
done
# Where the machine is busy the write before may have ended already, and nothing comes between, perhaps each time.
came=0
for _ in 1 2 3; do
  OPENCL_LAYERS=$programs/call_hooks.so timeout 50 gpusparc run --devices cpu:2 --gpus 1 "$programs/marker_before_launch" >out.txt ||
    { cat out.txt; gpusparc status; fail "one that has asked keeps another from running"; }
  cat out.txt
  ! grep -q "marker came between" out.txt || came=$((came + 1))
done
[ $came -gt 0 ] || echo "left out: the marker came too late each time"
# A read that blocks has no unit while it waits for something of the application's own.
rm -f goes_on
gpusparc run --devices cpu:2 --gpus 1 --task one "$programs/read_behind_user_event" >out.txt &
keeper=$!
for ((i = 0; i < 300; i++)); do
  if grep -q "it runs" out.txt; then break; fi
  sleep 0.1
done
timeout "$(left)" gpusparc run --devices cpu:2 --gpus 1 "$programs/paced" 5 4096 || fail "a read that waits for its application keeps a unit"
kill -0 $keeper 2>/dev/null || fail "the read has ended already"
touch goes_on
wait $keeper || fail "the read"
end_daemon
