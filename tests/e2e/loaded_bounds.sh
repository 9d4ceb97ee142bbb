#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# loaded_bounds.sh: programs/loaded_bounds.c gives the same bytes in every way: its ranges hang on what buffers hold.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" loaded_bounds some:gather split:gather_int split:gather_long split:gather_short split:around some:both
