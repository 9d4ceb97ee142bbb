# SPDX-License-Identifier: MIT
# What the scripts of this folder share.
fail() { echo "FAILED: $*"; exit 1; }
programs=$GS_BUILD/tests/e2e
stats() { "$programs/stats" "$@" || fail "stats: $*"; }
# Kernels that PoCL has compiled once, and translations, are shared by all tests; a test that needs its own says so.
export POCL_CACHE_DIR=$GS_BUILD/tests/run/pocl-cache XDG_CACHE_HOME=$GS_BUILD/tests/run/cache
mkdir -p "$POCL_CACHE_DIR" "$XDG_CACHE_HOME"
unset GPUSPARC_TRANSFER GPUSPARC_GPUS GPUSPARC_MODE GPUSPARC_DEVICES GPUSPARC_STATS GPUSPARC_VERIFY GPUSPARC_ALLOW GPUSPARC_TRACE

# The argument for sampled: "kept" where the driver lets go of a sampler that is released while launches use it, as PoCL
# 6.0 does. What it prints by itself is other values each time then.
samplers() {
  local k
  for k in 1 2 3; do
    cmp -s <(OPENCL_LAYERS='' "$programs/sampled") <(OPENCL_LAYERS='' "$programs/sampled" kept) && continue
    echo "left out, samplers that are released early: this driver lets go of them itself while launches use them" >&2
    echo kept
    return
  done
}

# A daemon of the script's own. Its socket, config and log lie in $dir; it ends with the script, and so does what the
# script has put into $apps.
daemon= apps=
own_daemon() { # its config comes on standard input
  dir=$(mktemp -d)
  export GPUSPARC_SOCKET=$dir/sock
  unset GPUSPARC_TASK GPUSPARC_DAEMON GPUSPARC_PACE
  cat >"$dir/conf"
  trap end_all EXIT
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
