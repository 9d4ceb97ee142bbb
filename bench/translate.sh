#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a translation of 1,000 lines costs, the first time and from the cache: bench/translate.sh [BUILD]
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
build=${1:-build}
cmake --build "$build" --target translate_bench gpusparc-translate >/dev/null
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
XDG_CACHE_HOME=$cache "$build/bench/translate_bench" "$build/lib/gpusparc/gpusparc-translate"
