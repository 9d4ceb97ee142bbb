#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The edits of the engine refuse a source that they aren't for, with the edit's name and the file.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
rm -rf ./*
mkdir -p source/lib/CL/devices/remote source/pocld
for f in lib/CL/devices/remote/communication.c lib/CL/devices/remote/communication.h lib/CL/devices/remote/remote.c \
  pocld/daemon.cc pocld/shared_cl_context.cc; do echo "/* another version */" >source/$f; done
if python3 "$GS_SOURCE/scripts/remote_edits.py" source 2>err; then fail "another source was edited"; fi
grep -q "edit 'ended' fits 0 places of lib/CL/devices/remote/communication.c, not 1" err || fail "$(cat err)"
rc=0
python3 "$GS_SOURCE/scripts/remote_edits.py" 2>err || rc=$?
[ $rc = 2 ] || fail "without a folder: $rc"
rc=0
bash "$GS_SOURCE/scripts/remote.sh" --wrong 2>err || rc=$?
[ $rc = 2 ] && grep -q -- "--wrong" err || fail "remote.sh --wrong: $rc, $(cat err)"
