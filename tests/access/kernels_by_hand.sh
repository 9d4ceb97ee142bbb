# SPDX-License-Identifier: MIT
# What kernels written by hand do on the host is what the translator says of them: kernels_by_hand.sh [SEED [LAUNCHES]]
set -euo pipefail
python3 "$GS_SOURCE/tests/access/oracle/foreign.py" --seed "${1:-1}" --launches "${2:-40}" "$GS_SOURCE/tests/access/oracle/kernels_by_hand.cl"
