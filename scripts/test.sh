#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is needed, builds, and passes the tests.
set -euo pipefail
[[ ${1:-} != --help && ${1:-} != -h ]] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit; }
cd "$(dirname "$0")/.."
scripts/deps.sh --test
scripts/build.sh build
ctest --test-dir build --output-on-failure -j 2
