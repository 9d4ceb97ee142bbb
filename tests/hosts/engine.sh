#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the engine got wrong on one host by itself (scripts/remote_edits.py).
set -euo pipefail
source "$GS_SOURCE/tests/hosts/engine_there.sh"
export GPUSPARC_HOSTS_TIMEOUT=60
gpusparc run --hosts localhost --hosts-required --mode single "$GS_BUILD/tests/hosts/uploads"
