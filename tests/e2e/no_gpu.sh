#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Without a GPU, and with nothing said of devices, the application has the whole CPU as without gpusparc, and finds no
# GPU; one line says so, and another one if it asks for a GPU. Who asks for several devices gets parts of the CPU, which answer to who asks for a GPU: said
# once, unless the CPU was named.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
"$programs/any_device" >plain.txt || fail "the program fails without gpusparc"
! grep -q "GPU: 0" plain.txt || { echo "left out: there is a GPU"; exit 77; }
units=$(sed -n 's/units: //p' plain.txt)
[ "$units" -ge 2 ] || { echo "left out: the device has one compute unit"; exit 77; }
run() { # NAME OPTIONS...
  local name=$1
  shift
  gpusparc run --stats="$name.json" "$@" "$programs/any_device" >"$name.txt" 2>"$name.err" || fail "$name: $(cat "$name.err")"
}
for mode in auto single; do
  run $mode --mode $mode
  cmp plain.txt $mode.txt || fail "$mode: $(diff plain.txt $mode.txt)"
done
[ "$(wc -l <auto.err)" = 2 ] && grep -q "there is no GPU, and the CPU isn't divided (--devices cpu:2 does that); the application has the devices that it has without gpusparc" auto.err &&
  grep -q "any_device asks for a GPU, and there is none: --devices cpu:2 shows it parts of the CPU as GPUs" auto.err || fail "auto: $(cat auto.err)"
[ ! -s single.err ] || fail "single: $(cat single.err)"
shows auto.err "there is no GPU, and the CPU isn't divided (--devices cpu:2 does that)" "%s; the application has the devices that it has without gpusparc" \
  "%s asks for a GPU, and there is none: --devices cpu:2 shows it parts of the CPU as GPUs"
stats auto.json devices:1 single:grow:"there is one device"
for options in "--mode multi" "--gpus 2 --mode multi" "--gpus 2"; do
  run some $options
  [ "$(wc -l <some.err)" = 1 ] && grep -q "a part of the CPU passes for one, as any_device asks for a GPU" some.err || fail "$options: $(cat some.err)"
  grep -q "GPU: 0" some.txt && grep -q "units: $((units / 2))" some.txt || fail "$options: $(cat some.txt)"
  shows some.err "there is no GPU: a part of the CPU passes for one, as %s asks for a GPU"
done
stats some.json devices:2
run named --devices cpu:2 --mode multi
[ ! -s named.err ] || fail "named: $(cat named.err)"
stats named.json devices:2 split:grow
