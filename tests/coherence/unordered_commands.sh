#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The application of unordered commands, plain and split, by each way that bytes can take between places. Where the
# devices share the host's memory nothing moves by itself: `plain` and `pinned` show what GPUs would.
set -euo pipefail
program=$GS_BUILD/tests/unordered_commands
"$program" 1 >/dev/null || { echo "the application is wrong without gpusparc" >&2; exit 1; }
for path in plain pinned auto; do
  for n in 2 3; do
    echo "== $path, cpu:$n"
    GPUSPARC_TRANSFER=$path timeout 120 gpusparc run --mode multi --devices cpu:$n --stats=stats.json "$program" 2
    grep -q '"name": "scattered", "launches": [0-9]*, "split": [1-9]' stats.json
  done
done
