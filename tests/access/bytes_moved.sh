# SPDX-License-Identifier: MIT
# Two devices with memories of their own bring each other what the algorithm needs and no more, as bench/bytes.sh counts it.
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/bench/bytes.sh" "$GS_BUILD"
