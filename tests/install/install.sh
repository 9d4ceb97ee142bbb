#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An installed tree runs from wherever it is moved to, and needs nothing of the build or of the PATH.
set -euo pipefail
rm -rf prefix moved
cmake --install "$GS_BUILD" --prefix "$PWD/prefix" >/dev/null
grep -qxF "ExecStart=$PWD/prefix/bin/gpusparcd" prefix/lib/systemd/system/gpusparcd.service
! command -v systemd-analyze >/dev/null || systemd-analyze verify "$PWD/prefix/lib/systemd/system/gpusparcd.service"
bash -c 'source prefix/share/bash-completion/completions/gpusparc && complete -p gpusparc' >/dev/null
mv prefix moved
bin=$PWD/moved/bin/gpusparc
samples=$PWD/moved/lib/gpusparc/samples
cache=$PWD/cache
rm -rf "$cache"
cd /
clean() { env -i HOME="$HOME" PATH=/usr/bin:/bin XDG_CACHE_HOME="$cache" "$@"; }

out=$(clean "$bin" run --mode multi --devices cpu:2 --stats="$cache.stats" "$samples/matmul" --size 96 --tile 16)
[ "$out" = "matmul 96x96x96 PASS" ]
grep -Eq 'matmul +1 +1 +2' "$cache.stats" # launches, split, parts

# What is loaded, and found by programs that open the library themselves, is the installed one.
clean env LD_DEBUG=libs "$bin" run --devices cpu:2 "$samples/matmul" --size 96 >"$cache.loaded" 2>&1
grep -q "$(dirname "$samples")/libgpusparc.so" "$cache.loaded"
[ "$(readlink -f "$(dirname "$samples")/opencl/libOpenCL.so")" = "$(dirname "$samples")/libgpusparc.so" ]

# No program or library leads back to the folder that it was built in.
for f in "$bin" "$(dirname "$bin")/gpusparcd" "$(dirname "$samples")"/libgpusparc.so "$(dirname "$samples")"/gpusparc-translate "$samples/matmul"; do
  ! readelf -d "$f" | grep -E '\((RPATH|RUNPATH)\)' | grep -F "$GS_BUILD"
done

clean "$bin" --version | grep -q '^gpusparc [0-9]'
[ -f "$(dirname "$bin")/../share/man/man1/gpusparc-run.1" ]
[ "$(echo "not an OpenCL application" | clean "$bin" run --devices cpu:2 cat)" = "not an OpenCL application" ]
status=0
clean "$bin" run --devices cpu:2 /nowhere/app 2>/dev/null || status=$?
[ "$status" -eq 127 ]
