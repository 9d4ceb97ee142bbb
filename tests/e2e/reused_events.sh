#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An event whose handle was that of one which stood for several commands until just now isn't taken for that.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
OPENCL_LAYERS=$programs/event_ends.so timeout "$(left)" gpusparc run --devices cpu:2 --mode multi "$programs/reused_events" >out.txt || { cat out.txt; fail reused; }
cat out.txt
grep -q '^[1-9]' out.txt || fail "no handle was used again"
