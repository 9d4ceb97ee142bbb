#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the engine got wrong on one host by itself (scripts/remote_edits.py).
set -euo pipefail
[ -x "${GPUSPARC_ENGINE:-${XDG_DATA_HOME:-$HOME/.local/share}/gpusparc/remote}/bin/pocld" ] || { echo "skipped: there is no engine; scripts/remote.sh builds it"; exit 77; }
export GPUSPARC_HOSTS_TIMEOUT=60
gpusparc run --hosts localhost --hosts-required --mode single "$GS_BUILD/tests/hosts/uploads"
