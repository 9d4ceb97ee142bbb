#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# eight_gpus.sh [SAMPLE...]: eight GPUs, which are PoCL's CPU devices by other names, with memories of their own: samples,
# random commands and, where samples are named, random host programs over all of them give one device's bytes, and so do
# tasks of 1, 2, 4 and 8 at a time under a daemon.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
samples=$GS_BUILD/lib/gpusparc/samples
export OPENCL_LAYERS=$programs/lazy.so LAZY=gpu,poison LAZY_REPORT=$PWD/lazy.txt
export POCL_DEVICES="pthread pthread pthread pthread pthread pthread pthread pthread"
rm -f lazy.txt

parts() { python3 -c 'import json; print(max(k.get("parts") or 0 for k in json.load(open("stats.json"))["kernels"]))'; }

# What the command writes into the file is what it has written without gpusparc.
same() { # NAME FILE WAY OPTIONS
  timeout -s KILL 200 env GPUSPARC_TRANSFER="$3" gpusparc run --devices gpu --gpus 8 --mode multi ${4:-} --stats=stats.json -- \
    "${command[@]}" >out.txt 2>err.txt || { tail -3 err.txt; fail "$1 ($3 ${4:-})"; }
  cmp "$2.plain" "$2" || fail "$1 ($3 ${4:-}) computes something else"
  ! grep '^gpusparc' err.txt | grep -vE 'verify: .*(, all alike|not compared|nothing compared)' || fail "$1 ($3 ${4:-}) has something to say"
}
ways=("plain --verify" pinned)
turn=0
random=("stress 881 40 3 i")
[ $# = 0 ] || random+=("hosts 883 100" "hosts 884 100")
[ $# -gt 0 ] || set -- matmul
for name; do
  small=$(sed -n "s/^$name *|[^|]*| *\([^|]*\) |.*/\1/p" "$GS_SOURCE/samples/MANIFEST")
  # shellcheck disable=SC2086 # words
  "$samples/$name" $small --no-check --output result >out.txt 2>err.txt || fail "$name without gpusparc: $(tail -1 err.txt)"
  mv result result.plain
  # shellcheck disable=SC2206
  command=("$samples/$name" $small --no-check --output result)
  read -r way verify <<<"${ways[turn++ % 2]}"
  same "$name" result "$way" "$verify"
  echo "$name: in $(parts) parts"
  [ "$name" != matmul ] || [ "$(parts)" = 8 ] || fail "matmul is in $(parts) parts"
done
rm -rf kernels
python3 "$GS_SOURCE/tests/access/generate.py" 880 2 kernels
for program in "${random[@]}"; do
  read -ra command <<<"$program"
  [ "${command[0]}" != hosts ] || command+=(kernels/*.cl)
  command[0]=$programs/${command[0]}
  "${command[@]}" >out.txt.plain 2>err.txt || fail "$program without gpusparc: $(tail -1 err.txt)"
  same "$program" out.txt plain
  same "$program" out.txt pinned
done
[ ! -s lazy.txt ] || { head -3 lazy.txt; fail "the driver was misused"; }

own_daemon gpus=8 watchdog=100s kernel_chunk=4 <<'END'
[task eight]
priority = 4
period = 400ms
mode = 8
[task four]
priority = 3
period = 400ms
mode = 4
[task two]
priority = 2
period = 400ms
mode = 2
[task one]
priority = 1
period = 400ms
mode = 1
END
begin_daemon
"$programs/jobs" 4 4000 100 3 >alone.txt
for task in eight four two one; do
  gpusparc run --devices gpu --gpus 8 --mode multi --task $task "$programs/jobs" 4 4000 100 3 >"$task.txt" 2>"$task.err" &
  apps="$apps $!"
done
for app in $apps; do wait "$app" || { tail -2 ./*.err; fail "a task of several ended with an error"; }; done
apps=
for task in eight four two one; do cmp alone.txt $task.txt || fail "task $task computes something else"; done
end_daemon
echo passed
