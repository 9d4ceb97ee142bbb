# SPDX-License-Identifier: MIT
# Every test kernel, translated and run in parts, gives the bytes of the whole launch.
set -euo pipefail
export XDG_CACHE_HOME=$PWD/cache
rm -rf "$XDG_CACHE_HOME"
"$GS_BUILD/tests/split_kernels" "$GS_BUILD/lib/gpusparc/gpusparc-translate" "$GS_SOURCE"/tests/kernels/*.cl
