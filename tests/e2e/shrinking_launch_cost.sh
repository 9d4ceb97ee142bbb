#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An application whose launches are all of other sizes, over a driver that does nothing: what a launch costs doesn't grow
# with the sizes that there have been. It took 320 us of CPU time for each of 4,094 launches when all sizes of the program
# were looked at by each, and 1.8 when each size had a record; it takes 0.5 now.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache GPUSPARC_REAL=$programs/fake.so
rm -rf cache
for process in first second; do
  took=$(gpusparc run "$programs/shrinking_launch_cost")
  echo "$process process: $took us a launch"
  awk -v us="$took" 'BEGIN { exit us > 80 }' || fail "$process process: $took us a launch"
done
