#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds into build/, or the folder given; further arguments go to cmake.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
dir=${1:-build}
cmake -S . -B "$dir" -G Ninja "${@:2}" >/dev/null || { echo "build: scripts/deps.sh --test installs what is missing" >&2; exit 1; }
cmake --build "$dir"
