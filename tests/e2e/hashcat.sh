#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hashcat, from Debian's package, cracks known hashes: it opens the library at run time and makes its kernels from files.
set -euo pipefail
source "$GS_SOURCE/tests/e2e/common.sh"
command -v hashcat >/dev/null || { echo "left out: hashcat is not installed"; exit 77; }
export HOME=$PWD # its sessions and kernels go there
printf '%s\n' apple banana gpusparc hashcat orange password secret zebra >words.txt
for ((i = 0; i < 3000; i++)); do echo "word$i"; done >>words.txt
crack() { # TYPE HASH [STATISTICS]
  rm -f "$1.json" "$1.out"
  local rc=0
  timeout 1000 gpusparc run --gpus 2 --mode multi --stats="$1.json" hashcat -m "$1" -a 0 --force --potfile-disable --quiet \
    --self-test-disable -u 64 -n 32 -D 1,2 -o "$1.out" "$2" words.txt >"$1.txt" 2>&1 || rc=$?
  [ $rc = 0 ] || { cat "$1.txt"; fail "hashcat -m $1 gives $rc"; }
  grep -q ':gpusparc$' "$1.out" || { cat "$1.txt" "$1.out"; fail "hashcat -m $1 didn't find the word"; }
  [ $# -lt 3 ] || stats "$1.json" devices:2 "$3"
}
for t in "${@:-0}"; do
  case $t in
    0)
      hash=$(printf gpusparc | md5sum | cut -d' ' -f1)
      crack 0 "$hash"
      # It has kept the programs' binaries, of which nothing is known, as they were linked.
      crack 0 "$hash" "single:m00000_sxx:its program was made from a binary"
      # PoCL has compiled the search by now; it counts what it finds.
      rm -r "$XDG_CACHE_HOME/hashcat/kernels"
      GPUSPARC_TRANSFER=plain crack 0 "$hash" "single:m00000_sxx:it uses the result of an atomic on global memory"
      ;;
    100) crack 100 "$(printf gpusparc | sha1sum | cut -d' ' -f1)" ;;
    1400) crack 1400 "$(printf gpusparc | sha256sum | cut -d' ' -f1)" ;;
    500) crack 500 "$(openssl passwd -1 -salt gs12 gpusparc)" ;;
  esac
done
echo passed
