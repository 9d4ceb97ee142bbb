#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is needed, builds, and shows the main job: an OpenCL program written for one device, run by gpusparc on two.
#   scripts/demo.sh [SIZE]     SIZE: rows and columns of the matrices; default 1024
# Exit status: 0; 1 if a result is wrong or something failed.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
size=${1:-1024}
scripts/deps.sh
cmake -S . -B build -G Ninja >/dev/null
cmake --build build --target installed
gpusparc=build/bin/gpusparc
matmul=(build/lib/gpusparc/samples/matmul --size "$size" --iterations 3 --times)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Two real GPUs where there are two; else the CPU device in two equal parts.
if "$gpusparc" devices --gpus 2 | grep -q '^the group: parts of the CPU device'; then
  devices=(--devices cpu:2)
  one="one part of two of the CPU device"
  two="both parts, under gpusparc"
else
  devices=(--gpus 2)
  one="one device"
  two="two devices, under gpusparc"
fi

# Runs a command line and keeps its output, its result file and its times: run NAME COMMAND...
run() {
  local name=$1
  shift
  if ! "$@" --output "$work/$name.bytes" >"$work/$name.out" 2>"$work/$name.err"; then
    echo "demo: the run '$name' failed:" >&2
    cat "$work/$name.out" "$work/$name.err" >&2
    exit 1
  fi
}

# Milliseconds of a phase in a run: ms NAME PHASE
ms() { sed -n "s/.*\"$2_ms\": \([0-9.]*\).*/\1/p" "$work/$1.out"; }

show() { printf '  %-44s %12s %12s\n' "$@"; }

echo
echo "The program: build/lib/gpusparc/samples/matmul, two ${size}x${size} float matrices multiplied, median of 3."
"$gpusparc" devices "${devices[@]}" | sed -n '/^the group/,$p' | sed 's/^/  /'
run plain "${matmul[@]}"
run one "$gpusparc" run --mode single "${devices[@]}" "${matmul[@]}"
run two "$gpusparc" run --mode multi "${devices[@]}" --stats="$work/stats" "${matmul[@]}"

echo
show "" "kernel ms" "total ms"
show "without gpusparc (the system's own device)" "$(ms plain kernel)" "$(ms plain total)"
show "$one" "$(ms one kernel)" "$(ms one total)"
show "$two" "$(ms two kernel)" "$(ms two total)"
awk -v a="$(ms one kernel)" -v b="$(ms two kernel)" \
  'BEGIN { printf "  The kernel on two took 1/%.2f of its time on one.\n", a / b }'
awk -v load="$(cut -d' ' -f1 /proc/loadavg)" -v cores="$(nproc)" \
  'BEGIN { printf "  The machine has %d cores and a load of %s: on busy cores these times say little.\n", cores, load }'
echo
sed 's/^/  /' "$work/stats"
echo
for other in one two; do
  if ! cmp "$work/plain.bytes" "$work/$other.bytes"; then
    echo "demo: the results differ" >&2
    exit 1
  fi
done
if ! grep -Eq 'matmul +[0-9]+ +[1-9]' "$work/stats"; then
  echo "demo: the launch was not split" >&2
  exit 1
fi
echo "The three results are equal, byte for byte ($(stat -c %s "$work/plain.bytes") bytes), and the launches were split."
