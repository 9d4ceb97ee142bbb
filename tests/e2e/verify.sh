#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --verify finds nothing wrong where devices have memories of their own and some bytes have no value yet; and it finds what
# a translator is wrong about, which the application doesn't see. What varies on one device, too, isn't taken for a wrong split.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
bash "$GS_SOURCE/tests/e2e/compare.sh" unwritten split:rows
for way in plain pinned; do
  GPUSPARC_TRANSFER=$way gpusparc run --devices cpu:2 --mode multi --verify --stats="$way-verify.json" "$programs/unwritten" >verify.txt 2>verify.err
  cmp alone.txt verify.txt || fail "unwritten, $way: another output"
  grep -qx 'gpusparc: verify: split launches compared with one device: [1-9][0-9]*, all alike' verify.err && [ "$(wc -l <verify.err)" = 1 ] ||
    fail "unwritten, $way: $(cat verify.err)"
  [ "$(grep -o '[0-9]*,' verify.err)" = "$(grep -o '"verified": [0-9]*, "wrong"' $way-verify.json | awk '{ n += $2 } END { print n "," }')" ] || fail "another number than --stats has"
  stats "$way-verify.json" devices:2 right split:rows way:rows:verified
done

# A translator that lies, since it is asked for something else: about where a kernel writes, and in what it makes of one.
real=$GS_BUILD/lib/gpusparc/gpusparc-translate
printf '#!/bin/sh\nsed "s/(0) + 0u/(0) + 1u/; s/[*] 3u/* 4u/" | %s "$@"\n' "$real" >liar
chmod +x liar
"$programs/mistranslated" >right.txt
for way in "" plain; do
  for _ in 1 2 3 4 5 6; do # a race may come out as on one device, by chance
    GPUSPARC_TRANSLATOR=$PWD/liar GPUSPARC_TRANSFER=$way gpusparc run --devices cpu:2 --mode multi --allow race --verify --stats=lies.json "$programs/mistranslated" >lies.txt 2>lies.err
    ! grep -q 'neighbour: ' lies.err || break
  done
  cmp right.txt lies.txt || fail "--verify lets the application see what is wrong"
  grep -q 'shifted: argument v changed at byte 0, which the summary' lies.err || { cat lies.err; fail "an undeclared write isn't found"; }
  grep -q 'scaled: argument v differs at byte' lies.err || { cat lies.err; fail "a difference isn't found"; }
  grep -q 'leftover: argument v varies at byte' lies.err || { cat lies.err; fail "it isn't said that one device's runs differ"; }
  grep 'leftover: .* differs' lies.err && fail "what differs on one device is taken for a wrong split"
  grep -q 'neighbour: argument v differs at byte 16384: .* read what others write of v:' lies.err ||
    { cat lies.err; fail "it isn't said that a kernel may race"; }
  grep 'scaled: .* others write' lies.err && fail "a kernel is said to race that reads nothing"
  grep -q 'verify: split launches compared with one device: [0-9]*, not alike: [1-9]' lies.err || fail "what differs isn't counted at the end: $(tail -2 lies.err)"
  shows lies.err "verify: kernel %s: argument %s changed at byte %llu, which the summary doesn't declare" \
    "verify: kernel %s: argument %s differs at byte %llu: %02x on one device, %02x split%s%s%s" \
    "verify: kernel %s: argument %s varies at byte %llu: two runs on one device differ there, too, by a race or by what nobody has written: it isn't the split" \
    "verify: split launches compared with one device: %llu, not alike: %llu"
  [ "$(grep -o '"verified": 1, "wrong": 1' lies.json | wc -l)" = 3 ] || { cat lies.json; fail "what is wrong isn't counted"; }
done
shows verify.err "verify: split launches compared with one device: %llu, all alike"
# Where nothing was compared, that is said.
gpusparc run --devices cpu:2 --mode single --verify "$programs/unwritten" >single.txt 2>single.err
grep -qx 'gpusparc: warning: verify: nothing compared: no launch was split' single.err || fail "--mode single: $(cat single.err)"
gpusparc run --devices cpu:2 --verify true 2>true.err
grep -qx 'gpusparc: warning: verify: nothing compared: true made no OpenCL kernel under gpusparc' true.err || fail "true: $(cat true.err)"
shows single.err "verify: nothing compared: no launch was split"
shows true.err "verify: nothing compared: %s made no OpenCL kernel under gpusparc"
echo passed
