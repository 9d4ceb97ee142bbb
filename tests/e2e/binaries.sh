#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs made from binaries: one that came from a source under gpusparc is split like it, unless its headers have
# changed since; of others, and of those that were linked, nothing is known.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
export XDG_CACHE_HOME=$PWD/cache
rm -rf cache && mkdir -p cache headers
echo '#define FACTOR 5u' >headers/factor.h
"$programs/binaries" save plain.bin headers >alone.txt

under() { # ASKED ARGUMENTS...
  local asked=$1
  shift
  gpusparc run --gpus 2 --mode multi --stats=binaries.json "$programs/binaries" "$@" >out.txt 2>err.txt || { cat out.txt err.txt; fail "$*"; }
  cmp alone.txt out.txt || fail "$*: another output"
  stats binaries.json "$asked"
}
under single:scaled:"its program was made from a binary whose source gpusparc doesn't know (if the application keeps it in a cache: emptying that once lets it be split)" load plain.bin
# What headers there are is asked of the translator, which takes a large text a while: where the text includes some.
export GPUSPARC_TRANSLATOR=$PWD/translator
printf '#!/bin/sh\ntouch asked\nexec %s/lib/gpusparc/gpusparc-translate "$@"\n' "$GS_BUILD" >translator
chmod +x translator
rm -f asked
gpusparc run --gpus 2 --not scaled "$programs/binaries" words words.bin headers >out.txt
cmp alone.txt out.txt
[ ! -e asked ] || fail "a program was translated since a comment of its says that it includes"
gpusparc run --gpus 2 --not scaled "$programs/binaries" save kept.bin headers >out.txt
cmp alone.txt out.txt
[ -e asked ] || fail "the headers of a program weren't asked for"
unset GPUSPARC_TRANSLATOR
rm -rf cache
under split:scaled save kept.bin headers
under split:scaled load kept.bin
under split:scaled link linked.bin headers
under "single:scaled:made from a binary" load linked.bin
echo '#define FACTOR 6u' >headers/factor.h
under single:scaled:"its program was made from a binary, and headers that it was built with have changed since" load kept.bin
rm -r headers
under "single:scaled" load kept.bin
find cache -type f | while read -r f; do noise 200 >"$f"; done
under "single:scaled:made from a binary" load kept.bin
echo passed
