# SPDX-License-Identifier: MIT
# Every sample, small and on two devices with memories of their own, is split as the table in docs/access.md says:
# samples.sh [--accept]
# With --accept what is found is taken to be right; look at the difference before it is committed.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export GPUSPARC_DEVICES=cpu:2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 "$GS_SOURCE/tests/access/samples.py" "$GS_SOURCE" "$GS_BUILD/lib/gpusparc/samples" "$@"
