#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A file that has no end, or is far too large, is refused in one line by every command that reads files.
set -euo pipefail
fail() { echo "FAILED: $*" >&2; exit 1; }
refuses() { # COMMAND...
  local rc=0
  # The memory of 20 times what the largest of these readers allows would not be enough for all of a file without an end.
  (ulimit -v 4000000; timeout 120 "$@") >out.txt 2>err.txt || rc=$?
  [ $rc = 1 ] || [ $rc = 2 ] || [ $rc = 125 ] || fail "$* exits with $rc: $(head -c 500 err.txt)"
  grep -qi "${why:-too large}" err.txt && [ "$(wc -l <err.txt)" = 1 ] || fail "$*: $(head -c 500 err.txt)"
}
# A JSON text that goes on and on, which is a text as good as any.
endless() { { printf '{"system": ['; yes '1,'; } 2>/dev/null; }
refuses gpusparc timing --mix GLOBAL_LOAD=1 --profile /dev/zero
refuses gpusparc timing --ptx /dev/zero
refuses gpusparc makespan --ptx /dev/zero --warps 2
refuses gpusparc check /dev/zero
refuses gpusparc analyze /dev/zero
refuses gpusparc explain /dev/zero
why='no regular file' refuses gpusparc daemon --config /dev/zero --socket "$PWD/sock" # it waits for no pipe either
mkfifo set.json 2>/dev/null || true
endless >set.json &
writer=$!
refuses gpusparc analyze set.json
wait $writer || true
rm -f set.json
echo passed
