# SPDX-License-Identifier: MIT
# What the scripts of this folder share.
fail() { echo "FAILED: $*"; exit 1; }
programs=$GS_BUILD/tests/e2e
# The seconds that are left to a program: less than to the script (cmake/GsTest.cmake), which then says what hangs.
left() {
  local s=$((${GS_LIMIT:-255} - 15 ${GS_LIMIT:+- SECONDS}))
  echo $((s > 1 ? s : 1))
}
stats() { "$programs/stats" "$@" || fail "stats: $*"; }
# plain FILE COMMAND...: what it prints without gpusparc. The same command is run once in a test.
rm -f kept.*
plain() {
  local kept
  kept=kept.$(tr ' /' '--' <<<"${*:2}")
  [ -e "$kept" ] || OPENCL_LAYERS='' timeout "$(left)" "${@:2}" >"$kept" || { rm "$kept"; fail "without gpusparc: ${*:2}"; }
  cp "$kept" "$1"
}
noise() { python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(int(sys.argv[1])))' "$1"; } # BYTES, the same each time
# Kernels that PoCL has compiled once, and translations, are shared by all tests; a test that needs its own says so.
export POCL_CACHE_DIR=$GS_BUILD/tests/run/pocl-cache XDG_CACHE_HOME=$GS_BUILD/tests/run/cache
mkdir -p "$POCL_CACHE_DIR" "$XDG_CACHE_HOME"
unset GPUSPARC_TRANSFER GPUSPARC_GPUS GPUSPARC_MODE GPUSPARC_DEVICES GPUSPARC_STATS GPUSPARC_VERIFY GPUSPARC_ALLOW GPUSPARC_TRACE

# The argument for released_samplers: "kept" where the driver lets go of a sampler that is released while launches use it, as PoCL
# 6.0 does. What it prints by itself is other values each time then.
samplers() {
  local k
  for k in 1 2 3; do
    cmp -s <(OPENCL_LAYERS='' "$programs/released_samplers") <(OPENCL_LAYERS='' "$programs/released_samplers" kept) && continue
    echo "left out, samplers that are released early: this driver lets go of them itself while launches use them" >&2
    echo kept
    return
  done
}

# Waits for what a command finds true, a minute at most.
await() { # WHAT COMMAND...
  local what=$1 end=$((SECONDS + 60))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "$what"
    sleep 0.05
  done
}
# The processes that compile for later ones, of the cache in ./cache; marks of what they have done there.
compilers() {
  local p
  for p in $(grep -lx gpusparc-compil /proc/[0-9]*/comm 2>/dev/null); do
    p=${p%/comm}
    if cat "$p/environ" 2>/dev/null | tr '\0' '\n' | grep -qxF "XDG_CACHE_HOME=$PWD/cache"; then echo "${p#/proc/}"; fi
  done
}
none_compile() { [ -z "$(compilers)" ]; }
are_built() { [ "$(cat cache/gpusparc/built-* 2>/dev/null | grep -ac '^3 [1-9]')" = "$1" ]; }
until_compiled() { # N
  await "$1 programs should have been compiled for later processes" are_built "$1"
  await "gpusparc-compile doesn't end" none_compile
}

# A daemon of the script's own. Its socket, config and log lie in $dir; it ends with the script, and so does what the
# script has put into $apps.
daemon= apps=
own_daemon() { # KEY=VALUE...: of [system], of two GPUs where none says otherwise; the tasks come on standard input
  dir=$(mktemp -d)
  export GPUSPARC_SOCKET=$dir/sock
  unset GPUSPARC_TASK GPUSPARC_DAEMON GPUSPARC_PACE
  printf '%s\n' '[system]' 'realtime = no' "${@/=/ = }" >"$dir/conf"
  [[ "$*" = *gpus=* ]] || echo 'gpus = 2' >>"$dir/conf"
  cat >>"$dir/conf"
  [ -n "${BATS_TEST_NAME:-}" ] || trap end_all EXIT # bats has a trap of its own, and teardown()
}
begin_daemon() { # OPTIONS
  gpusparc daemon --config "$dir/conf" "$@" 2>>"$dir/log" &
  daemon=$!
  for _ in $(seq 500); do gpusparc status --json >/dev/null 2>&1 && return; sleep 0.02; done
  cat "$dir/log"
  fail "the daemon doesn't come"
}
end_daemon() {
  kill -TERM "$daemon"
  wait "$daemon" || fail "the daemon's exit status"
  daemon=
}
end_all() { # by their ids
  for p in $apps $daemon; do kill -9 "$p" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$dir"
}

# `gpusparc` is one whose shim looks at each lock and each state (common/lock/rank.h) from here on: ./report has a line
# for each that is out of order.
check_order() {
  rm -rf install report && mkdir -p install/bin install/lib
  cp "$GS_BUILD/bin/gpusparc" "$GS_BUILD/bin/gpusparcd" install/bin/
  cp -r "$GS_BUILD/lib/gpusparc" install/lib/
  cp "$GS_BUILD/tests/checked/libgpusparc.so" install/lib/gpusparc/
  export GS_LOCK_REPORT=$PWD/report PATH=$PWD/install/bin:$PATH
}
in_order() { [ ! -s report ] || { sort report | uniq -c; fail "locks or states out of order"; }; }

# shows FILE SENTENCE...: each stands there, a sentence of docs/messages.md as it is there, with anything where it has %s
# or the like. tests/docs/messages.sh asks for such a place for each sentence.
shows() {
  local file=$1 sentence pattern
  shift
  for sentence in "$@"; do
    pattern=$(sed -E 's/[][\.*^$+?(){}|]/\\&/g; s/%[-.0-9\\*]*(ll)?[a-z]/.*/g' <<<"$sentence")
    grep -qE -- "$pattern" "$file" || fail "$file: it isn't said: $sentence: $(head -c 4000 "$file")"
  done
}
