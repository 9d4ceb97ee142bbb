#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is needed, builds, and passes the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/deps.sh --test
scripts/build.sh build
ctest --test-dir build --output-on-failure -j 2
