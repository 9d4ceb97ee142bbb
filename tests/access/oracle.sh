# SPDX-License-Identifier: MIT
# What random kernels do on the host is what the translator says of them: oracle.sh [SEED [COUNT]]
set -euo pipefail
python3 "$GS_SOURCE/tests/access/oracle/campaign.py" "${2:-1000}" "${1:-1}"
