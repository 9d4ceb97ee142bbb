#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What goes wrong: one sentence on stderr from the launcher; inside an application one device and the right result.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
app=("$programs/loading" libOpenCL.so.1 local)
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
refuses 125 "GPUSPARC_GPUS" --gpus 0 true
refuses 125 "GPUSPARC_GPUS" --gpus two true
refuses 125 "GPUSPARC_MODE" --mode fast true
refuses 125 "GPUSPARC_DEVICES" --devices cpu: true
refuses 125 "GPUSPARC_DEVICES" --devices 0,,1 true
refuses 127 "./missing" ./missing
refuses 127 "not-on-the-path" not-on-the-path --gpus 2
touch plain.file
refuses 126 "./plain.file" ./plain.file
refuses 126 "/" /
rc=0
gpusparc run --gpus 2 -- sh -c 'exit 42' || rc=$?
[ "$rc" = 42 ] || fail "the application's status 42 became $rc"

single() { # PART OF THE REASON, OPTIONS...: runs, is right, and says why it was on one device
  local reason=$1 rc=0
  shift
  rm -f single.json
  timeout 100 gpusparc run --gpus 2 --mode multi --stats=single.json "$@" "${app[@]}" >single.txt 2>single.err || rc=$?
  [ "$rc" = 0 ] || { cat single.txt single.err; fail "$reason: exits with $rc"; }
  cmp alone.txt single.txt || fail "$reason: another output"
  stats single.json "single:opened:$reason"
}
# Wrong words in the environment, without the launcher to refuse them.
GPUSPARC_GPUS=many LD_PRELOAD=$GS_BUILD/lib/gpusparc/libgpusparc.so "${app[@]}" >env.txt 2>env.err || fail "a wrong variable"
cmp alone.txt env.txt || fail "a wrong variable changes the output"
[ "$(wc -l <env.err)" = 1 ] && grep -q GPUSPARC_GPUS env.err || { cat env.err; fail "a wrong variable: other than one sentence"; }

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
translator 'cat >/dev/null; echo nonsense; echo and more'
single "translator"
translator 'head -c 3000000 /dev/urandom'
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
  timeout 100 gpusparc run --gpus 2 --mode multi --stats=splits.json "${app[@]}" >splits.txt 2>splits.err || { cat splits.err; fail "$1"; }
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
find cache -type f | while read -r f; do head -c 200 /dev/urandom >"$f"; done
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
echo passed
