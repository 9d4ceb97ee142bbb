# SPDX-License-Identifier: MIT
# Atomics whose result has an effect are found, whatever way it takes: atomic_results.sh [SEED [COUNT]]
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
python3 "$GS_SOURCE/tests/access/atomic_results.py" "${1:-1}" "${2:-300}"
