#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# programs/order.c gives the same bytes in every way; also on two devices that PoCL has no order between, since parts of
# one share its threads.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" order split:around split:everything
POCL_DEVICES="pthread pthread" GPUSPARC_TRANSFER=plain gpusparc run --devices all --mode multi --stats=apart.json "$programs/order" >apart.txt
cmp alone.txt apart.txt || { diff alone.txt apart.txt | cut -c1-200; fail "on two devices of their own"; }
stats apart.json devices:2 split:around split:everything
