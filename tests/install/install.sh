#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An installed tree runs from wherever it is moved to, and needs nothing of the build or of the PATH.
set -euo pipefail
where_installed() { if command -v "$1" >/dev/null; then "$@"; else echo "left out: $1 isn't installed"; fi; } # COMMAND...
rm -rf prefix moved
# The target `installed`, which the demo builds, has every program and library that is installed.
ninja -C "$GS_BUILD" -t query installed | tr -d ' |' | sort >inputs.txt
find "$GS_BUILD" -name cmake_install.cmake -exec grep -ho "\"$GS_BUILD/\(bin\|lib\)/[^\";]*\"" {} + | tr -d '"' | sort -u |
  sed "s|^$GS_BUILD/||" | grep -v '/opencl\(-log\)\?$' >wanted.txt
[ "$(wc -l <wanted.txt)" -gt 40 ]
missing=$(comm -23 wanted.txt inputs.txt)
[ -z "$missing" ] || { echo "FAILED: the target installed doesn't build $missing"; exit 1; }
cmake --install "$GS_BUILD" --prefix "$PWD/prefix" >/dev/null
grep -qxF "ExecStart=$PWD/prefix/bin/gpusparcd" prefix/lib/systemd/system/gpusparcd.service
where_installed systemd-analyze verify "$PWD/prefix/lib/systemd/system/gpusparcd.service"
bash -c 'source prefix/share/bash-completion/completions/gpusparc && complete -p gpusparc' >/dev/null
[ -f prefix/share/zsh/site-functions/_gpusparc ] && [ -f prefix/share/fish/vendor_completions.d/gpusparc.fish ]
where_installed zsh -n prefix/share/zsh/site-functions/_gpusparc
where_installed fish -n prefix/share/fish/vendor_completions.d/gpusparc.fish
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

# From a path with a space as well, which ends a path in LD_PRELOAD; where the loader can't be told, one sentence says so.
spaced="${bin%/moved/bin/gpusparc}/a b"
rm -rf "$spaced" && mkdir "$spaced" && cp -a "$(dirname "$bin")/.." "$spaced/tree"
clean "$spaced/tree/bin/gpusparc" run --mode multi --devices cpu:2 --stats="$cache.stats" "$samples/matmul" --size 96 --tile 16 >"$cache.out" 2>&1
[ "$(cat "$cache.out")" = "matmul 96x96x96 PASS" ]
grep -Eq 'matmul +1 +1 +2' "$cache.stats"
mv "$spaced" "${spaced/a b/a:b}"
status=0
clean "${spaced/a b/a:b}/tree/bin/gpusparc" run "$samples/matmul" --size 96 >"$cache.out" 2>&1 || status=$?
[ "$status" -eq 125 ] && [ "$(wc -l <"$cache.out")" = 1 ] && grep -q "ends paths at ':'" "$cache.out"
rm -rf "${spaced/a b/a:b}"

# The installed pages lead somewhere.
docs=$(dirname "$bin")/../share/doc/gpusparc
find "$docs" -name '*.md' | while read -r page; do
  for link in $(sed -nE 's/\]\(([^)# ]+)/\n\1\n/gp' "$page" | sed -nE '/^[a-z.][a-zA-Z0-9_.\/-]*\.(md|svg|png|html|csv|json|conf)$/p'); do
    [ -e "$(dirname "$page")/$link" ] || { echo "$page leads to $link, which isn't installed"; exit 1; }
  done
done
[ -f "$docs/CHANGELOG.md" ] && [ -f "$docs/docs/overview.md" ]
grep -q "^## $("$bin" --version | sed 's/gpusparc //')" "$docs/CHANGELOG.md"

clean "$bin" --version | grep -q '^gpusparc [0-9]'
for page in man1/gpusparc-run.1 man5/gpusparc.conf.5 man7/gpusparc.7 man8/gpusparcd.8; do
  [ -f "$(dirname "$bin")/../share/man/$page" ]
done
clean "$bin" check "$(dirname "$bin")/../share/doc/gpusparc/examples/gpusparc.conf" >/dev/null
[ "$(echo "not an OpenCL application" | clean "$bin" run --devices cpu:2 cat)" = "not an OpenCL application" ]
status=0
clean "$bin" run --devices cpu:2 /nowhere/app 2>/dev/null || status=$?
[ "$status" -eq 127 ]

# What is installed can be removed, and nothing else is.
away=${bin%/moved/bin/gpusparc}/away
rm -rf "$away" && mkdir -p "$away/bin" && touch "$away/bin/another"
cmake --install "$GS_BUILD" --prefix "$away" >/dev/null
[ -x "$away/bin/gpusparc" ]
cmake -DBUILD="$GS_BUILD" -P "$GS_SOURCE/cmake/uninstall.cmake" >/dev/null
[ "$(cd "$away" && find . ! -type d)" = ./bin/another ] && [ ! -e "$away/lib/gpusparc" ] && [ ! -e "$away/share/doc/gpusparc" ]
