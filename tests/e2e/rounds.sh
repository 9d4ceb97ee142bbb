#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One kernel at one size whose loop has other bounds in other launches, over a driver whose GPUs only let time pass: the
# short launches are left alone and the long ones are split, whichever come first, and in the next process at once.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache FAKE_ITEM_NS=1 FAKE_ROUNDS=2 GPUSPARC_REAL=$programs/fake.so
rm -rf cache

# NAME LEAST MOST SEQUENCE...: so many launches are split. Without --stats, which looks at each launch: as it is usually.
splits() {
  local name=$1 least=$2 most=$3 n
  shift 3
  GPUSPARC_DEBUG=1 gpusparc run "$programs/rounds" 4096 "$@" >out.txt 2>"$name.debug" || fail "$name: $(tail "$name.debug")"
  n=$(grep -c 'advance, launch [0-9]*: split' "$name.debug" || true)
  [ "$n" -ge "$least" ] && [ "$n" -le "$most" ] || fail "$name: $n launches in parts, not $least to $most"
}
gpusparc run --mode multi "$programs/rounds" 4096 1x1 >out.txt # its translation is in the cache from here on
# 4 us, and 65 ms.
splits short-first 20 40 300x1 40x16000
splits learnt 5 10 300x1 10x16000
splits fresh-kernel 5 10 300x1 + 10x16000
rm -rf cache
gpusparc run --mode multi "$programs/rounds" 4096 1x1 >out.txt
# What short launches take is not held against the long ones, nor is it the other way about.
splits long 3 10 10x16000
splits short 0 4 300x1
splits long-again 5 10 10x16000
splits short-again 0 0 300x1
# Numbers that were never seen are taken for those that were, until they make a difference.
splits counter 4 9 1x16000 1x16001 1x16002 1x16003 1x16004 1x16005 1x16006 1x16007 1x16008
# Of short launches hardly any is looked at, though a counter among their arguments goes up and up.
rm -rf cache
FAKE_ROUNDS= splits short-counter 0 0 $(for i in 1 2 3; do echo + 3000x0+; done)
looked=$(grep -c 'advance, launch' short-counter.debug)
[ "$looked" -le 120 ] || fail "$looked of 9000 short launches were looked at"
echo passed
