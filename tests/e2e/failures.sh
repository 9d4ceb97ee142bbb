#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What goes wrong: one sentence on stderr from the launcher; inside an application one device and the right result.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export GPUSPARC_DEVICES=cpu:2 # but for what says otherwise
app=("$programs/dlopened_opencl" libOpenCL.so.1 local)
"${app[@]}" >alone.txt

refuses() { # STATUS TEXT ARGUMENTS...
  local status=$1 text=$2 rc=0
  shift 2
  gpusparc run "$@" >out.txt 2>err.txt || rc=$?
  [ "$rc" = "$status" ] || { cat err.txt; fail "run $* gives $rc, not $status"; }
  [ ! -s out.txt ] || fail "run $* wrote to stdout"
  [ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "run $*: other than one line"; }
  grep -qF -- "$text" err.txt || { cat err.txt; fail "run $*: missing: $text"; }
}
refuses 125 "there is no option '--frobnicate'" --frobnicate true
refuses 125 "an application is missing"
refuses 125 "--gpus needs a value" --gpus
refuses 125 "value for --gpus" --gpus 0 true
refuses 125 "value for --gpus" --gpus two true
refuses 125 "value for --mode" --mode fast true
refuses 125 "value for --devices" --devices cpu: true
refuses 125 "value for --devices" --devices 0,,1 true
refuses 125 "--trace needs a file" --trace= true
refuses 127 "--stats=s.json" --stats s.json
refuses 127 "./missing" ./missing
refuses 127 "not-on-the-path" not-on-the-path --gpus 2
touch plain.file
refuses 126 "./plain.file" ./plain.file
refuses 126 "/" /
# A file that is missing after --trace or --stats= must not cost the application.
printf '#!/bin/sh\nexit 0\n' >script
cp "$programs/dlopened_opencl" program
for words in "--trace ./script" "--trace ./program" "--trace ./script ./program" "--stats=program true" "--stats=script" "--trace script --gpus no true"; do
  rc=0
  gpusparc run $words >out.txt 2>err.txt || rc=$?
  [ "$rc" = 125 ] && [ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "run $words gives $rc"; }
  cmp program "$programs/dlopened_opencl" && [ "$(tail -1 script)" = "exit 0" ] || fail "run $words has written over a program"
done
echo "old" >old.json
refuses 125 "an application is missing" --trace old.json
[ "$(cat old.json)" = old ] || fail "a command that isn't whole empties a file"
# Where no library can be put into a program that is said, and it runs.
if [ "$(readelf -lW /sbin/ldconfig 2>/dev/null | grep -c INTERP)" = 0 ] && [ "$(head -c 4 /sbin/ldconfig | tail -c 3)" = ELF ]; then
  gpusparc run /sbin/ldconfig -p >out.txt 2>err.txt || fail "a static program"
  [ -s out.txt ] && [ "$(wc -l <err.txt)" = 1 ] && grep -q "linked statically" err.txt || { cat err.txt; fail "a static program: not said"; }
fi
printf '\177ELF\001\001\001\000%0100d' 0 >narrow
chmod +x narrow
gpusparc run ./narrow >out.txt 2>err.txt || true
grep -q "narrow is a program of 32 bits" err.txt || { cat err.txt; fail "a program of 32 bits: not said"; }
if [ "$(id -u)" = 0 ]; then
  cp /bin/true others
  chown 65534 others && chmod 4755 others
  gpusparc run ./others 2>err.txt || fail "a program with another user's rights"
  grep -q "others runs with rights" err.txt || { cat err.txt; fail "a program with another user's rights: not said"; }
else
  echo "left out, a program with another user's rights: that takes root"
fi
# Statistics that there are none of: who asked is told, once, and not by a shell whose children have them.
gpusparc run --stats true 2>err.txt && grep -q "no statistics: true made no OpenCL kernel" err.txt && [ "$(wc -l <err.txt)" = 1 ] || { cat err.txt; fail "no kernels: not said"; }
shows err.txt "there are no statistics: %s made no OpenCL kernel under gpusparc"
gpusparc run --stats sh -c "$programs/dlopened_opencl libOpenCL.so.1 local; exit 0" >out.txt 2>err.txt
grep -q opened err.txt && ! grep "no statistics" err.txt || { cat err.txt; fail "no kernels of a shell's own: said"; }
rc=0
gpusparc run --gpus 2 -- sh -c 'exit 42' || rc=$?
[ "$rc" = 42 ] || fail "the application's status 42 became $rc"

single() { # PART OF THE REASON, OPTIONS...: runs, is right, and says why it was on one device
  local reason=$1 rc=0
  shift
  rm -f single.json
  timeout 100 gpusparc run --devices cpu:2 --mode multi --stats=single.json "$@" "${app[@]}" >single.txt 2>single.err || rc=$?
  [ "$rc" = 0 ] || { cat single.txt single.err; fail "$reason: exits with $rc"; }
  cmp alone.txt single.txt || fail "$reason: another output"
  stats single.json "single:opened:$reason"
}
# Wrong words in the environment, without the launcher to refuse them.
GPUSPARC_GPUS=many LD_PRELOAD=$GS_BUILD/lib/gpusparc/libgpusparc.so "${app[@]}" >env.txt 2>env.err || fail "a wrong variable"
cmp alone.txt env.txt || fail "a wrong variable changes the output"
[ "$(wc -l <env.err)" = 1 ] && grep -q GPUSPARC_GPUS env.err || { cat env.err; fail "a wrong variable: other than one sentence"; }
shows env.err "%s; the application runs on one device"

# A GPUSPARC_REAL that is no library, or gpusparc itself: said once, and the system's is taken.
for real in /nowhere/libOpenCL.so.1 /etc/hostname "$GS_BUILD/lib/gpusparc/libgpusparc.so" "$GS_BUILD/lib/gpusparc/opencl/libOpenCL.so.1"; do
  GPUSPARC_REAL=$real timeout "$(left)" gpusparc run "${app[@]}" >real.txt 2>real.err || { cat real.err; fail "GPUSPARC_REAL=$real"; }
  cmp alone.txt real.txt && [ "$(wc -l <real.err)" = 1 ] && grep -q "GPUSPARC_REAL.*$real" real.err || { cat real.err; fail "GPUSPARC_REAL=$real: other than one sentence"; }
  shows real.err "GPUSPARC_REAL=%s can't be used: %s; the system's library is looked for"
done

# No OpenCL platform: the application says what it says without us, and we say one sentence.
mkdir -p no-vendors
rc=0 plain=0
OCL_ICD_VENDORS=$PWD/no-vendors "${app[@]}" >none.txt 2>/dev/null || plain=$?
OCL_ICD_VENDORS=$PWD/no-vendors gpusparc run "${app[@]}" >none2.txt 2>none.err || rc=$?
[ "$rc" = "$plain" ] && cmp none.txt none2.txt || fail "no platform: the application ends otherwise ($rc, $plain)"
[ "$(grep -c '^[a-z]*: ' none.err)" -le 1 ] || { cat none.err; fail "no platform: more than a sentence"; }

# Translators that crash, hang, answer nonsense, flood, fail, or are not there. Each has a cache of its own: empty.
translator() { # TEXT OF THE SCRIPT
  printf '#!/bin/sh\n%s\n' "$1" >translator.sh
  chmod +x translator.sh
  export GPUSPARC_TRANSLATOR=$PWD/translator.sh
}
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache
translator 'kill -SEGV $$'
single "translator"
translator 'exit 3'
single "translator"
shows single.json "the translator %s: %s"
translator 'cat >/dev/null; echo nonsense; echo and more'
single "translator"
shows single.json "the translator's answer can't be read: %s"
noise 3000000 >noise
translator "cat $PWD/noise"
single "translator"
translator 'exec sleep 1234.5'
begin=$(date +%s)
GPUSPARC_TRANSLATE_TIMEOUT=1 single "translator"
[ $(($(date +%s) - begin)) -lt 60 ] || fail "a translator that hangs holds the application up"
! pgrep -f 'sleep 1234[.]5' >/dev/null || fail "a translator that hangs is left behind"
GPUSPARC_TRANSLATOR=$PWD/absent single "translator"
unset GPUSPARC_TRANSLATOR

splits() { # NAME: in spite of it
  rm -f splits.json
  timeout 100 gpusparc run --devices cpu:2 --mode multi --stats=splits.json "${app[@]}" >splits.txt 2>splits.err || { cat splits.err; fail "$1"; }
  cmp alone.txt splits.txt || fail "$1: another output"
  ! grep '^gpusparc' splits.err || fail "$1: words on stderr"
  stats splits.json split:opened
}
# Caches that can't be written, are no folder, are others' to write, or are full of rubbish.
rm -rf cache && mkdir -p cache/gpusparc && chmod 555 cache/gpusparc
splits "a cache that can't be written"
chmod 755 cache/gpusparc && rm -rf cache && touch cache
splits "a cache that is a file"
rm -f cache
splits "an empty cache"
find cache -type f | while read -r f; do noise 200 >"$f"; done
splits "a cache of rubbish"
find cache -type f | while read -r f; do : >"$f"; done
splits "a cache of empty files"
if [ -e /dev/full ]; then XDG_CACHE_HOME=/dev/full splits "a cache that is a device"; fi
(unset XDG_CACHE_HOME HOME; splits "no home")

# The statistics' file can't be written: one sentence, and the application's own status.
rc=0
gpusparc run --stats="$PWD/absent/s.json" --mode multi "${app[@]}" >out.txt 2>err.txt || rc=$?
[ "$rc" = 0 ] && cmp alone.txt out.txt || fail "statistics that can't be written: $rc"
grep -q "absent/s.json" err.txt || { cat err.txt; fail "statistics that can't be written: not said"; }
# Statistics where the application's own words go: behind them, and nothing is lost.
for file in /dev/stdout /dev/stderr words.txt; do
  (echo before; gpusparc run --mode multi --stats=$file "${app[@]}"; echo after) >words.txt 2>&1 || fail "statistics to $file"
  { echo before; cat alone.txt; echo after; } | cmp - <(grep -v '^gpusparc: ' words.txt) || { cat words.txt; fail "statistics to $file: words are lost"; }
  grep -q '^gpusparc: opened ' words.txt || { cat words.txt; fail "statistics to $file: not there"; }
done
GPUSPARC_STATS=/dev/stdout LD_PRELOAD=$GS_BUILD/lib/gpusparc/libgpusparc.so "${app[@]}" >words.txt
cmp alone.txt <(grep -v '^gpusparc: ' words.txt) && grep -q '^gpusparc: opened ' words.txt || { cat words.txt; fail "statistics to stdout without the launcher"; }
(echo before; gpusparc run --trace /dev/stdout "${app[@]}") >words.txt 2>err.txt
{ echo before; cat alone.txt; } | cmp - words.txt && grep -q "no ordinary file of its own" err.txt || { cat words.txt err.txt; fail "a trace to stdout"; }
shows err.txt "the trace %s %s: %s"
# A name in UTF-8, one that is none, and one with what JSON escapes.
for name in 'ä"\n' $'lat\xe4in' $'tab\there'; do
  cp "$programs/dlopened_opencl" "$name"
  rm -f name.json name.trace
  gpusparc run --mode multi --stats=name.json --trace name.trace "./$name" libOpenCL.so.1 local >/dev/null || fail "a program with an odd name"
  python3 - "$name" <<'END' || fail "the JSON of a program with an odd name"
import json, os, sys
want = os.fsencode(sys.argv[1])
try: want = want.decode()
except UnicodeDecodeError: want = want.decode("latin-1")
assert json.load(open("name.json"))["process"]["name"] == want
assert any(e["name"] == "process_name" and e["args"]["name"] == want for e in json.load(open("name.trace")))
END
  rm "$name"
done
# A task where there is no daemon.
GPUSPARC_SOCKET=$PWD/nobody gpusparc run --task t "${app[@]}" >task.txt 2>task.err && cmp alone.txt task.txt || fail "a task without a daemon"
[ "$(cat task.err)" = "gpusparc: there is no daemon: task t runs unscheduled until one comes" ] || { cat task.err; fail "a task without a daemon: not said"; }
shows task.err "there is no daemon: task %s runs unscheduled until one comes"
# Named by the variable, under the launcher: a second run's are its own too.
for i in 1 2; do GPUSPARC_STATS=$PWD/variable.json GPUSPARC_TRACE=$PWD/variable.trace gpusparc run --mode multi "${app[@]}" >/dev/null; done
[ "$(ls variable*)" = "variable.json
variable.trace" ] || { ls variable*; fail "the statistics of a second run are elsewhere"; }
[ "$(grep -c process_name variable.trace)" = 1 ] || fail "a second run's trace has the first one's"
echo passed
