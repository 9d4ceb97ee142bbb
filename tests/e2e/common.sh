# SPDX-License-Identifier: MIT
# What the scripts of this folder share.
fail() { echo "FAILED: $*"; exit 1; }
programs=$GS_BUILD/tests/e2e
stats() { "$programs/stats" "$@" || fail "stats: $*"; }
# Kernels that PoCL has compiled once, and translations, are shared by all tests; a test that needs its own says so.
export POCL_CACHE_DIR=$GS_BUILD/tests/run/pocl-cache XDG_CACHE_HOME=$GS_BUILD/tests/run/cache
mkdir -p "$POCL_CACHE_DIR" "$XDG_CACHE_HOME"
unset GPUSPARC_TRANSFER GPUSPARC_GPUS GPUSPARC_MODE GPUSPARC_DEVICES GPUSPARC_STATS GPUSPARC_VERIFY GPUSPARC_ALLOW GPUSPARC_TRACE
